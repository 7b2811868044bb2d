#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// Symbolic links in place of what git keeps in a repository: git on the host follows them.
class LinkedRepositories : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w");
        host("git init -q w && rm -f w/.git/hooks/* && git init -q s && rm -f s/.git/hooks/*");
    }
};

TEST_F(LinkedRepositories, HooksAndSettingsBehindLinks) {
    host(
        "cd w && rmdir .git/hooks && mkdir -p kept/hooks later && ln -s ../kept/hooks .git/hooks && mv .git/config "
        "kept/settings && ln -s ../kept/settings .git/config && cd .. && mv s/.git w/real && ln -s real w/later/.git");
    host("mv w/later/.git w/later/x; mv w/real w/later/real; mv w/later/x w/later/.git");
    Session session = open();
    expect_acts(session, "EACCES", at("w"),
                {"create @/kept/hooks/pre-commit", "append @/kept/settings", "rename @/two @/kept/settings",
                 "unlink @/.git/hooks", "unlink @/.git/config", "rename @/kept @/k2",
                 "create @/later/real/hooks/pre-commit", "append @/later/real/config", "unlink @/later/.git",
                 "rename @/later/real @/r2"});
    expect_acts(session, "ok", at("w"), {"create @/kept/other", "create @/later/real/index.lock"});
}

TEST_F(LinkedRepositories, RepositoriesOfSubmodulesBehindALink) {
    host("mkdir w/.git/modules && mv s/.git w/real && ln -s ../../real w/.git/modules/s && ln -s nowhere w/.git/modules/n");
    Session session = open();
    expect_acts(session, "EACCES", at("w"),
                {"create @/real/hooks/post-checkout", "append @/real/config", "create @/real/commondir",
                 "rename @/real @/r2", "unlink @/.git/modules/s", "rename @/empty @/.git/modules/s"});
    expect_acts(session, "ok", at("w"), {"create @/real/index.lock", "mkdir @/real/objects/aa"});
}

TEST_F(LinkedRepositories, ALinkInPlaceOfAllOfThem) {
    host("mkdir w/store && mv s/.git w/store/s && ln -s ../store w/.git/modules && ln -s ../dir w/.git/worktrees");
    Session session = open();
    expect_acts(session, "EACCES", at("w"),
                {"create @/store/s/hooks/post-checkout", "append @/store/s/config", "rename @/store @/s2",
                 "unlink @/.git/modules", "mkdir @/store/t", "create @/dir/x", "unlink @/.git/worktrees"});
    expect_acts(session, "ok", at("w"), {"create @/new"});
}

// A command that makes them keeps no later session from starting.
TEST_F(LinkedRepositories, LinksThatLeadAstrayStopNoSession) {
    host("mkdir w/.git/modules");
    {
        Session session = open();
        EXPECT_EQ(session.sh("cd .git/modules; ln -s . self; ln -s ../.. up; ln -s / root; ln -s loop loop; ln -s loop/x x; "
                             "ln -s up/.git/modules/up around; cd ../..; mkdir sub; git init -q sub; "
                             "ln -s ../../dir sub/.git/worktrees")
                      .code(),
                  0);
    }
    Session session = open();
    expect_acts(session, "ok", at("w"), {"create @/new", "create @/file2"});
    expect_acts(session, "EACCES", at("w"), {"create @/.git/hooks/x", "append @/.git/config", "create @/sub/.git/hooks/x"});
    session.close();
    host("rm -r w/.git/modules; ln -s ../.. w/.git/modules; rm w/sub/.git/worktrees; ln -s ../../.. w/sub/.git/worktrees");
    Session next = open();
    expect_acts(next, "ok", at("w"), {"create @/newer"});
    expect_acts(next, "EACCES", at("w"), {"create @/.git/hooks/x", "unlink @/.git/modules"});
}

/// What a command linked to is no repository by that, and the workspace stays what it is for.
TEST_F(LinkedRepositories, ALinkOfACommandMakesNoRepository) {
    EXPECT_EQ(open().sh("mkdir -p x y src/hooks src/config; ln -s ../src x/.git; echo 'gitdir: ../src' > y/.git").code(), 0);
    Session session = open();
    ASSERT_EQ(session.warnings().size(), 1U);
    EXPECT_NE(session.warnings()[0].find("x/.git leads to"), std::string::npos) << session.warnings()[0];
    expect_acts(session, "ok", at("w"), {"create @/src/hooks/use", "create @/src/config/c", "mkdir @/src/modules"});
    expect_acts(session, "EACCES", at("w"), {"unlink @/x/.git", "unlink @/y/.git", "append @/y/.git"});
    session.close();
    // As soon as it is one, the next session protects it, by whatever leads there.
    host("rm -r w/src/config w/src/modules && git init -q --bare w/src");
    Session next = open();
    expect_acts(next, "EACCES", at("w"), {"create @/src/hooks/pre-commit", "append @/src/config", "mkdir @/src/modules"});
}

TEST_F(LinkedRepositories, ALinkThatTakesAwayIsWarnedOf) {
    EXPECT_EQ(open().sh("mkdir x src; ln -s ../src x/.vscode; for i in $(seq 30); do mkdir l$i; ln -s ../dir/d$i l$i/.mcp.json; done")
                  .code(),
              0);
    Session session = open();
    expect_acts(session, "EACCES", at("w"), {"create @/src/f", "unlink @/x/.vscode", "create @/dir/d7"});
    expect_acts(session, "ok", at("w"), {"create @/f", "create @/dir/f"});
    EXPECT_EQ(session.warnings().size(), 11U);
    EXPECT_EQ(session.warnings()[0].rfind("21 more", 0), 0U) << session.warnings()[0];
    session.close();
    host("rm -r w/l*");
    const std::string warning = "because of the link " + at("w/x/.vscode") + " nothing can be written at " + at("w/src") +
                                ": .vscode (always denied); if a command made it, remove it";
    EXPECT_EQ(open().warnings(), std::vector<std::string>{warning});
    // The user's own, where no command can make one.
    host("rm w/x/.vscode; ln -s src w/.vscode");
    Session own = open();
    EXPECT_EQ(own.warnings(), std::vector<std::string>{});
    expect_acts(own, "EACCES", at("w"), {"create @/src/g", "unlink @/.vscode"});
}

/// Of the names that a policy denies, made where another did not.
TEST_F(LinkedRepositories, LinksToWhatNoPolicyCanDeny) {
    EXPECT_EQ(open().sh("ln -s /proc/1/root conf; ln -s / all; ln -s /dev/fuse device; ln -s /proc keys; ln -s /dev d").code(),
              0);
    SandboxPolicy policy = writable();
    policy.filesystem.devices = {"/dev/null"};
    policy.filesystem.deny_read = {"conf/key", "all", "keys", "keys/*.pem", "d/null", "device"};
    policy.filesystem.deny_write = {"all", "conf/etc", "d/null", "keys/x"};
    Session session = open(policy);
    EXPECT_FALSE(session.warnings().empty());
    EXPECT_EQ(session.sh("cat file > /dev/null && echo alive").out, "alive\n");
    expect_acts(session, "EACCES", at("w"),
                {"unlink @/conf", "unlink @/all", "unlink @/keys", "unlink @/d", "unlink @/device",
                 "rename @/two @/conf"});
    expect_acts(session, "ok", at("w"), {"create @/new"});
    policy.filesystem.deny_read = {"/proc/1/root/x"};
    EXPECT_NE(refusal(policy), "");
}

}  // namespace
}  // namespace sandpipe::testing
