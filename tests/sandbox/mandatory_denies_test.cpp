#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

class MandatoryDenies : public SandboxTest {
  protected:
    void repository() { host("git init -q w && rm -f w/.git/hooks/*"); }
};

const std::vector<std::string> kNames{".gitconfig", ".gitmodules", ".bashrc",  ".bash_profile",
                                      ".zshrc",     ".zprofile",   ".profile", ".ripgreprc",
                                      ".mcp.json",  ".vscode",     ".idea",    ".git"};

TEST_F(MandatoryDenies, MissingNamesCannotBeMadeAtARoot) {
    ignore_below("w");
    Session session = open();
    for (const std::string& name : kNames)
        expect_acts(session, "EACCES", at("w"),
                    {"create @/" + name, "mkdir @/" + name, "symlink x @/" + name, "rename @/two @/" + name});
    expect_acts(session, "ok", at("w"), {"create @/.other", "mkdir @/.claude", "create @/.claude/settings"});
    expect_acts(session, "EACCES", at("w"),
                {"mkdir @/.claude/commands", "create @/.claude/agents", "mkdir @/.claude/agents"});
    for (const std::string& name : kNames) EXPECT_NE(session.sh("test -e " + name).code(), 0) << name;
}

TEST_F(MandatoryDenies, ExistingNamesAtAnyDepthCannotBeChanged) {
    host(
        "mkdir -p w/.vscode w/dir/deep/.vscode w/node_modules/x/.vscode w/.claude/commands w/dir/deep/.idea;"
        "for f in w/.bashrc w/.vscode/s w/dir/.profile w/dir/deep/.vscode/s w/node_modules/x/.bashrc "
        "w/node_modules/x/.vscode/s w/.claude/commands/c; do echo x > $f; done");
    Session session = open();
    expect_acts(session, "EACCES", at("w"),
                {"write @/.bashrc", "unlink @/.bashrc", "write @/.vscode/s", "create @/.vscode/n",
                 "rename @/.vscode @/v", "append @/dir/.profile", "rename @/two @/dir/.profile",
                 "write @/dir/deep/.vscode/s", "create @/dir/deep/.idea/n", "rename @/dir @/dir2",
                 "write @/.claude/commands/c", "rename @/.claude @/c2"});
    expect_acts(session, "ok", at("w"),
                {"write @/node_modules/x/.vscode/s", "write @/node_modules/x/.bashrc", "read @/.bashrc"});
}

TEST_F(MandatoryDenies, OneOfThemCanBeLifted) {
    ignore_below("w/.vscode");
    SandboxPolicy policy = writable();
    policy.filesystem.mandatory_deny_except = {".vscode"};
    Session session = open(policy);
    expect_acts(session, "ok", at("w"), {"mkdir @/.vscode", "create @/.vscode/settings.json"});
    expect_acts(session, "EACCES", at("w"), {"mkdir @/.idea", "create @/.bashrc", "create @/.mcp.json"});
    policy.filesystem.mandatory_deny_except = {".vscodium"};
    EXPECT_NE(refusal(policy).find(".vscodium"), std::string::npos);
}

TEST_F(MandatoryDenies, HooksAndSettingsOfARepository) {
    repository();
    Session session = open();
    expect_acts(session, "EACCES", at("w"),
                {"create @/.git/hooks/pre-commit", "write @/.git/config", "rename @/two @/.git/config",
                 "rename @/.git/hooks @/.git/h2", "rename @/.git @/g", "exchange @/.git @/empty",
                 "unlink @/.git/config", "mkdir @/.git/hooks/x", "symlink x @/.git/hooks/post-commit",
                 "link @/.git/config @/c"});
    EXPECT_NE(session.sh("git config core.hooksPath /tmp/h").code(), 0);
    EXPECT_NE(session.sh("git config core.fsmonitor ./x").code(), 0);
    EXPECT_EQ(session.sh("git status --porcelain && git config --get core.bare").code(), 0);
    expect_acts(session, "ok", at("w"), {"read @/.git/config", "list @/.git/hooks"});
}

TEST_F(MandatoryDenies, SettingsByOption) {
    repository();
    ignore_below("w/.git");
    SandboxPolicy policy = writable();
    policy.filesystem.allow_git_config = true;
    Session session = open(policy);
    const Ran ran = session.sh("git config user.name x && git config --get user.name");
    EXPECT_EQ(ran.out, "x\n") << ran.err;
    expect_acts(session, "EACCES", at("w"), {"create @/.git/hooks/pre-commit", "create @/.bashrc"});
}

TEST_F(MandatoryDenies, GitInitIsRefusedWithADenial) {
    Session session = open();
    const Ran ran = session.sh("git init");
    EXPECT_NE(ran.code(), 0);
    ASSERT_FALSE(ran.result.denials.empty());
    EXPECT_NE(ran.result.denials[0].rule.find("allowGitInit"), std::string::npos)
        << ran.result.denials[0].rule;
}

TEST_F(MandatoryDenies, DotfilesThatAreLinksDoNotStopTheStart) {
    host(
        "echo x > o/bashrc; ln -s ../o/bashrc w/.bashrc; ln -s ../c/nothing w/.zshrc; ln -s file w/.profile; "
        "ln -s /nowhere/x w/.zprofile");
    Session session = open();
    expect_acts(session, "EACCES|EROFS", at("w"),
                {"write @/.bashrc", "unlink @/.bashrc", "rename @/two @/.zshrc", "unlink @/.zprofile",
                 "write @/.profile", "write @/file", "overwrite @/.zshrc"});
}

TEST_F(MandatoryDenies, ARepositoryElsewhereIsReadableAndNotWritable) {
    host("git init -q o/real && mv o/real/.git o/a.git && rmdir o/real && ln -s ../o/a.git w/.git");
    Session session = open();
    const Ran ran = session.sh("git -c safe.directory='*' status --porcelain -uno");
    EXPECT_EQ(ran.code(), 0) << ran.err;
    expect_acts(session, "EROFS|EACCES", at("w"),
                {"create @/.git/x", "write @/.git/config", "unlink @/.git"});
}

TEST_F(MandatoryDenies, TheHostSeesNoStubs) {
    host("git init -q w && git -C w add -A");
    Session session = open();
    Running running = session.start(session.shell("echo up; read x"));
    running.await_output("up");
    EXPECT_TRUE(changes().empty()) << changes().front();
    running.stop();
    (void)running.finish();
    host("test -z \"$(git -C w status --porcelain | grep -v '^A ')\"; git -C w config a.b c; mkdir w/.codex");
    seal();
}

// A stub of either name would stop git on the host: the one as a lock that nobody gives up, the other as a repository.
TEST_F(MandatoryDenies, WhatIsDeniedIsNotThereForTheHost) {
    host("git init -q w");
    SandboxPolicy policy = writable({".", "../c"});
    policy.filesystem.deny_write = {".git/config.lock"};
    Session session = open(policy);
    Running running = session.start(
        session.shell("echo x >.git/config.lock; mkdir ../c/.git; echo up; read x").input(Input::stream()));
    running.await_output("up");
    host("git -C w config a.b c; test ! -e c/.git");
    running.write("x\n");
    const Ran ran = running.finish();
    EXPECT_EQ(ran.denied(), (std::vector<std::string>{"open " + at("w/.git/config.lock") + " EACCES",
                                                      "mkdir " + at("c/.git") + " EACCES"}));
    expect_changes({"~ w/.git/config"});
}

TEST_F(MandatoryDenies, WhatTheHostMakesLaterAtARootIsProtected) {
    Session session = open();
    EXPECT_EQ(session.sh("true").code(), 0);
    host("mkdir -p w/.vscode; echo x > w/.vscode/s");
    expect_acts(session, "EACCES", at("w"), {"write @/.vscode/s", "create @/.vscode/n"});
    seal();
}

TEST_F(MandatoryDenies, TwoSessionsOnOneTreeLeaveNothing) {
    Session first = open();
    Session second = open();
    EXPECT_EQ(first.sh("true").code(), 0);
    expect_acts(second, "EACCES", at("w"), {"create @/.bashrc", "mkdir @/.git"});
    first.close();
    expect_acts(second, "EACCES", at("w"), {"create @/.bashrc", "mkdir @/.git"});
}

}  // namespace
}  // namespace sandpipe::testing
