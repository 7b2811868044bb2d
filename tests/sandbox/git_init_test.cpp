#include <chrono>
#include <fstream>
#include <sstream>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// allowGitInit: `w` is no repository yet, and a command makes it one.
class GitInit : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        host(
            "export GIT_CONFIG_GLOBAL=/dev/null; git init -q -b main o && git -C o add -A && "
            "git -C o -c user.name=h -c user.email=h@h commit -q -m first");
        ignore_below("w");
        // What a command does to it is compared with what the host's git does.
        host("export GIT_CONFIG_GLOBAL=/dev/null; git init -q -b main c");
    }
    SandboxPolicy making() const {
        SandboxPolicy policy = writable();
        policy.filesystem.allow_git_init = true;
        policy.filesystem.git_safe_directories.emplace_back("../o");
        return policy;
    }
    static constexpr const char* kGit =
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a "
        "HOME=/tmp; ";
    static constexpr const char* kInit = "git init -q -b main && ";
    Ran git(Session& session, const std::string& line) { return session.sh(kGit + line); }
    std::string text(const std::string& name) const {
        std::ifstream file(at(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void expect_settings_of_init() const { EXPECT_EQ(text("w/.git/config"), text("c/.git/config")); }
    void expect_works(const Ran& ran) {
        EXPECT_EQ(ran.code(), 0) << ran.story;
        EXPECT_TRUE(ran.denied().empty()) << ran.denied().front();
    }
    /// Refused, told once, and the settings are those of a new repository.
    void expect_refused(Session& session, const std::string& line, const std::string& denial) {
        const Ran ran = git(session, line);
        EXPECT_NE(ran.code(), 0) << line;
        EXPECT_EQ(ran.denied(), std::vector<std::string>{denial}) << line << "\n" << ran.story;
    }
    std::vector<std::string> protected_acts() const {
        return {"create @/.git/hooks/pre-commit",
                "mkdir @/.git/hooks/x",
                "rename @/file @/.git/hooks/pre-commit",
                "link @/file @/.git/hooks/pre-commit",
                "symlink x @/.git/hooks/pre-commit",
                "rename @/.git/hooks/pre-commit.sample @/.git/hooks/pre-commit",
                "link @/.git/hooks/pre-commit.sample @/.git/hooks/pre-commit",
                "create @/.git/hooks/new.sample",
                "write @/.git/hooks/pre-commit.sample",
                "rename @/.git/hooks @/.git/h2",
                "rename @/dir @/.git/hooks",
                "exchange @/dir @/.git/hooks",
                "append @/.git/config",
                "cut @/.git/config",
                "truncate @/.git/config",
                "rename @/file @/.git/config",
                "link @/.git/config @/.git/c2",
                "unlink @/.git/config",
                "chmod @/.git/config",
                "create @/.git/config.worktree",
                "create @/.git/commondir",
                "rename @/.git @/g",
                "exchange @/.git @/empty"};
    }
};

TEST_F(GitInit, WorksAtARoot) {
    Session session = open(making());
    expect_works(
        git(session, kInit + std::string("git commit -q --allow-empty -m x && git status --porcelain -uno && "
                                         "git log --oneline | grep x")));
    expect_settings_of_init();
    host("diff -r w/.git/hooks c/.git/hooks && git -C w -c safe.directory='*' fsck --strict");
    expect_works(git(session, "echo y >> file; git add file; git commit -q -m y; git gc -q; git stash list"));
}

TEST_F(GitInit, IsRefusedWithoutTheOption) {
    Session session = open();
    expect_refused(session, "git init -q", "mkdir " + at("w/.git") + " EACCES");
    EXPECT_NE(session.sh("test -e .git").code(), 0);
}

TEST_F(GitInit, OfASubdirectoryNeedsNoOption) {
    Session session = open(writable());
    expect_works(git(session,
                     "git init -q sub && git -C sub config a.b c && git clone -q --no-hardlinks ../o sub2 && "
                     "git -C sub2 log"));
    Session with_option = open(making());
    expect_works(git(with_option,
                     "git init -q sub3 && git -C sub3 config a.b c && echo x > sub3/.git/hooks/pre-push"));
}

TEST_F(GitInit, ACloneIntoARootWorks) {
    host("rm -rf w; mkdir w");
    Session session = open(making());
    expect_works(git(session,
                     "git clone -q --no-hardlinks ../o . && git log --oneline | grep first && git fetch -q "
                     "&& git status"));
    expect_refused(session, "git config remote.origin.url x",
                   "rename " + at("w/.git/config.lock") + " EACCES");
}

TEST_F(GitInit, AFailedCloneLeavesNothing) {
    host("rm -rf w; mkdir w");
    Session session = open(making());
    const Ran ran = git(
        session,
        "git clone -q --no-hardlinks ../nothing .; git clone -q --no-hardlinks --branch none ../o .; ls -A");
    EXPECT_EQ(ran.out, "") << ran.story;
    EXPECT_TRUE(ran.denied().empty()) << ran.story;
    expect_works(git(session, "git clone -q --no-hardlinks ../o ."));
}

TEST_F(GitInit, AfterwardsItIsProtectedAsAnyOther) {
    Session session = open(making());
    Session other = open(making());
    expect_works(git(session, kInit + std::string("true")));
    expect_acts(session, "EACCES|EROFS|EBUSY|EXDEV", at("w"), protected_acts());
    expect_acts(other, "EACCES|EROFS|EBUSY|EXDEV", at("w"), protected_acts());
    Session later = open(making());
    expect_acts(later, "EACCES|EROFS|EBUSY|EXDEV", at("w"), protected_acts());
    expect_acts(session, "ok", at("w"),
                {"create @/.git/x", "create @/.git/info/attributes", "append @/.git/HEAD"});
    expect_settings_of_init();
}

TEST_F(GitInit, InTheSameCommandToo) {
    Session session = open(making());
    std::string acts;
    for (std::string one : protected_acts()) {
        for (std::size_t i; (i = one.find('@')) != std::string::npos;) one.replace(i, 1, at("w"));
        acts += (acts.empty() ? "" : " -- ") + one;
    }
    const Ran ran = git(session, kInit + test_program("attack_act") + " " + acts);
    std::istringstream lines(ran.out);
    std::size_t refused = 0;
    for (std::string line; std::getline(lines, line);) refused += line == "EACCES" ? 1U : 0U;
    EXPECT_EQ(refused, protected_acts().size()) << ran.out;
    EXPECT_EQ(ran.denied().size(), protected_acts().size()) << ran.story;
    expect_settings_of_init();
}

TEST_F(GitInit, OnlyADirectoryCanBeMadeThere) {
    Session session = open(making());
    expect_acts(session, "EACCES", at("w"),
                {"create @/.git", "overwrite @/.git", "symlink ../o/.git @/.git", "rename @/dir @/.git",
                 "rename @/file @/.git", "link @/file @/.git", "fifo @/.git", "node @/.git"});
    const Ran ran = git(session, "git init -q --separate-git-dir=sub/evil");
    EXPECT_NE(ran.code(), 0);
    EXPECT_NE(session.sh("test -e .git").code(), 0);
    expect_acts(session, "ok", at("w"), {"mkdir @/.git", "chmod @/.git", "rmdir @/.git", "mkdir @/.git"});
}

// git tells, and makes the repository without the setting.
TEST_F(GitInit, NoSettingThatRunsAProgram) {
    for (const char* setting : {"core.fsmonitor=x", "core.hooksPath=x", "core.sshCommand=x", "alias.status=x",
                                "remote.origin.uploadpack=git-upload-pack", "include.path=x"}) {
        host("rm -rf w; mkdir w");
        Session session = open(making());
        const Ran ran = git(session, "git clone -q --no-hardlinks -c " + std::string(setting) + " ../o .");
        EXPECT_EQ(ran.denied(), std::vector<std::string>{"rename " + at("w/.git/config.lock") + " EACCES"})
            << setting;
        const std::string name = std::string(setting).substr(0, std::string(setting).find('='));
        host("test -e w/.git/config && ! git config --file w/.git/config --get " + name);
    }
    host("rm -rf w; mkdir w");
    Session session = open(making());
    expect_works(git(session, "git clone -q --no-hardlinks -c core.logAllRefUpdates=always ../o ."));
    host("git config --file w/.git/config --get core.logAllRefUpdates");
}

TEST_F(GitInit, NoHookByATemplate) {
    host("mkdir -p w/t/hooks && echo x > w/t/hooks/pre-commit && echo x > w/t/hooks/a.sample");
    Session session = open(making());
    const Ran ran = git(session, "git init -q --template=t");
    EXPECT_NE(ran.story.find("<open " + at("w/.git/hooks/pre-commit")), std::string::npos) << ran.story;
    host("test ! -e w/.git/hooks/pre-commit");
}

// What was open for writing, or has another name, before it became the settings.
TEST_F(GitInit, AKeptDescriptorOrLinkChangesNothing) {
    Session session = open(making());
    const Ran ran = session.python(R"(
import os
os.mkdir('.git')
good = '[core]\n\tbare = false\n'
kept = open('.git/config.lock', 'w'); kept.write(good); kept.flush()
os.link('.git/config.lock', 'second')
os.rename('.git/config.lock', '.git/config')
kept.write('[core]\n\tfsmonitor = x\n'); kept.flush()
open('second', 'a').write('[core]\n\tfsmonitor = x\n')
print(open('.git/config').read() == good, os.path.exists('.git/config.lock'))
os.symlink('second', '.git/config.lock')
try: os.rename('.git/config.lock', '.git/config')
except PermissionError: print('refused')
os.unlink('.git/config.lock'); open('.git/config.lock', 'w').write('[core]\n\tfsmonitor = x\n')
try: os.rename('.git/config.lock', '.git/config')
except PermissionError: print('refused')
open('.git/other', 'w').write(good)
try: os.rename('.git/other', '.git/config')
except PermissionError: print('refused')
)");
    EXPECT_EQ(ran.out, "True False\nrefused\nrefused\nrefused\n") << ran.err;
    EXPECT_EQ(text("w/.git/config"), "[core]\n\tbare = false\n");
}

TEST_F(GitInit, OnlyTheProcessThatMakesIt) {
    Session session = open(making());
    const Ran ran = session.python(R"(
import os
os.mkdir('.git'); os.mkdir('.git/hooks')
open('.git/config.lock', 'w').write('[core]\n\tbare = false\n')
child = os.fork()
if child == 0:
    for act in (lambda: os.rename('.git/config.lock', '.git/config'), lambda: open('.git/hooks/a.sample', 'w'),
                lambda: os.rmdir('.git/hooks')):
        try: act(); print('done', flush=True)
        except PermissionError: print('refused', flush=True)
    os._exit(0)
os.wait()
open('.git/hooks/a.sample', 'w').close()
os.rename('.git/config.lock', '.git/config')
print('made')
)");
    EXPECT_EQ(ran.out, "refused\nrefused\nrefused\nmade\n") << ran.err;
}

TEST_F(GitInit, OneThatTheHostMadeIsNotTheirs) {
    Session session = open(making());
    Running running =
        session.start(session
                          .shell("mkdir .git; rmdir .git; echo up; read x; " + test_program("attack_act") +
                                 " create .git/hooks/a.sample -- append "
                                 ".git/config -- create .git/hooks/pre-push -- rmdir .git/hooks")
                          .input(Input::stream()));
    running.await_output("up");
    host("git init -q w && rm w/.git/hooks/*");
    running.write("\n");
    EXPECT_EQ(running.finish().out, "up\nEACCES\nEACCES\nEACCES\nEACCES\n");
    expect_acts(session, "EACCES|EROFS|EBUSY", at("w"),
                {"create @/.git/hooks/a.sample", "append @/.git/config"});
}

TEST_F(GitInit, APointerOfTheHostsIsProtected) {
    Session session = open(making());
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo gitdir: elsewhere > w/.git");
    expect_acts(session, "EACCES|EROFS|EBUSY", at("w"),
                {"append @/.git", "cut @/.git", "truncate @/.git", "chmod @/.git", "unlink @/.git",
                 "rename @/file @/.git"});
    EXPECT_EQ(text("w/.git"), "gitdir: elsewhere\n");
}

TEST_F(GitInit, WhatTheUserDeniesStaysDenied) {
    SandboxPolicy policy = making();
    policy.filesystem.deny_write = {".git/hooks", "**/*.lock"};
    Session session = open(policy);
    expect_acts(session, "ok", at("w"), {"mkdir @/.git"});
    expect_acts(session, "EACCES", at("w"), {"mkdir @/.git/hooks", "create @/.git/config.lock"});
}

TEST_F(GitInit, FlippedPathsDoNotReachTheSettings) {
    Session session = open(making());
    Session other = open(making());
    EXPECT_EQ(other.sh("true").code(), 0);
    const std::string race = " existing .git/config " + std::to_string(rounds(2000));
    Running running = session.start(session
                                        .shell(kGit + std::string(kInit) + test_program("attack_race") +
                                               race + "; read x; " + test_program("attack_race") + race)
                                        .input(Input::stream()));
    running.await_output("tried\n");
    for (Session* sibling : {&session, &other})
        EXPECT_EQ(sibling->sh(test_program("attack_race") + race).out, "tried\n");
    running.write("\n");
    EXPECT_EQ(running.finish().out, "tried\ntried\n");
    expect_settings_of_init();
}

}  // namespace
}  // namespace sandpipe::testing
