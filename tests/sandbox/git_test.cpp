#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

class Git : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        host(
            "export GIT_CONFIG_GLOBAL=/dev/null; git init -q -b main w && git -C w add -A && "
            "git -C w -c user.name=h -c user.email=h@h commit -q -m first");
        ignore_below("w");
        ignore_below("c");
    }
    static constexpr const char* kIdentity =
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a "
        "HOME=/tmp; set -e; ";
    void expect_works(Session& session, const std::string& line) {
        const Ran ran = session.sh(kIdentity + line);
        EXPECT_EQ(ran.code(), 0) << line << "\n" << ran.story;
        EXPECT_TRUE(ran.denied().empty()) << line << ": " << ran.denied().front();
    }
};

TEST_F(Git, ARepositoryElsewhereInTheRootIsProtectedThroughItsPointer) {
    host("export GIT_CONFIG_GLOBAL=/dev/null; git init -q --separate-git-dir=w/gd w");
    Session session = open();
    expect_works(session, "git commit -q --allow-empty -m second; git status --porcelain");
    for (const char* line :
         {"echo x >gd/hooks/post-commit", "git config core.fsmonitor ./x", "mv gd gd2", "ln -sf o gd/config"}) {
        const Ran ran = session.sh(line);
        EXPECT_NE(ran.code(), 0) << line;
        EXPECT_FALSE(ran.denied().empty()) << line;
    }
}

TEST_F(Git, EverydayWorkNeedsNothing) {
    Session session = open(writable({".", "../c"}));
    expect_works(session, "git commit -q --allow-empty -m second; git status --porcelain");
    expect_works(session, "echo x >> file; git commit -q -a -m third; git log --oneline | wc -l | grep 3");
    expect_works(session, "git branch side; git checkout -q side; echo y >> two; git commit -q -a -m fourth");
    expect_works(
        session,
        "git checkout -q main; echo z >> file; git stash -q; git stash pop -q; git checkout -q file");
    expect_works(session, "git merge -q side; git tag t; git rebase -q main side; git checkout -q main");
    expect_works(session,
                 "git mv dir moved; git commit -q -m moved; git rm -q two; git commit -q -m removed");
    expect_works(session, "git gc -q; git reflog expire --expire=now --all; git prune");
    expect_works(session, "git worktree prune; git fsck --strict");
}

TEST_F(Git, ALocalCloneInTheWorkspaceAndOneInTmpWork) {
    Session session = open();
    expect_works(session,
                 "git clone -q --local . sub; cd sub; git log --oneline; git commit -q --allow-empty -m x");
    expect_works(session, "git clone -q . $TMPDIR/clone; cd $TMPDIR/clone; git log --oneline; git fetch -q");
}

TEST_F(Git, ALinkedWorktreeInTheWorkspaceWorks) {
    Session session = open();
    expect_works(session,
                 "git worktree add -q tree; cd tree; echo x > new; git add new; git commit -q -m new; git "
                 "log --oneline | wc -l | grep 2");
    expect_works(session,
                 "git worktree remove --force tree; git worktree prune; git worktree list | wc -l | grep 1");
}

TEST_F(Git, TheRepositoryOfAParentIsFound) {
    host("mkdir w/sub");
    SandboxPolicy policy = writable({"sub"});
    Session session = open(policy);
    const Ran ran = session.sh("cd sub; git rev-parse --show-toplevel");
    EXPECT_EQ(ran.out, at("w") + "\n") << ran.err;
}

TEST_F(Git, HooksAreRefusedAfterACommitWorked) {
    Session session = open();
    expect_works(session, "git commit -q --allow-empty -m x");
    const Ran ran = session.sh("echo x > .git/hooks/pre-commit");
    EXPECT_NE(ran.code(), 0);
    EXPECT_EQ(ran.denied(), std::vector<std::string>{"open " + at("w/.git/hooks/pre-commit") + " EACCES"});
}

TEST_F(Git, TheHostsGitNeverStopsACommand) {
    Session session = open();
    for (int i = 0; i < rounds(30); ++i) {
        host("git -C w config a.b c" + std::to_string(i));
        const Ran ran = session.sh("git config --get a.b; echo x >> .git/config");
        EXPECT_EQ(ran.out, "c" + std::to_string(i) + "\n") << ran.story;
        EXPECT_NE(ran.code(), 0) << "the settings became writable after the host replaced them";
    }
}

TEST_F(Git, ABranchCanBeRemovedThoughItsSettingsStay) {
    Session session = open();
    const Ran ran = session.sh("git branch side && git branch -q -D side; ls .git; git branch");
    EXPECT_EQ(ran.out.find("side"), std::string::npos) << ran.story;
    EXPECT_EQ(ran.out.find("config.lock"), std::string::npos) << ran.story;
}

TEST_F(Git, SafeDirectoriesAreAddedToTheCallersOwn) {
    Session session = open();
    const Ran ran = session.sh("git config --get-all safe.directory");
    EXPECT_EQ(ran.out, at("w") + "\n") << ran.err;
    const Ran added = session.run(session.shell("git config --get-all safe.directory; git config --get u.v")
                                      .env(Environment::names({"PATH"})
                                               .set("GIT_CONFIG_COUNT", "1")
                                               .set("GIT_CONFIG_KEY_0", "u.v")
                                               .set("GIT_CONFIG_VALUE_0", "mine")));
    EXPECT_EQ(added.out, at("w") + "\nmine\n") << added.err;
}

class LinkedWorktree : public Git {
  protected:
    void SetUp() override {
        Git::SetUp();
        // The workspace becomes a worktree of the repository in c.
        host(
            "export GIT_CONFIG_GLOBAL=/dev/null; rm -rf w c; git init -q -b main c && git -C c -c "
            "user.name=h "
            "-c user.email=h@h commit -q --allow-empty -m first && git -C c worktree add -q ../w && "
            "git -C c worktree add -q ../c/other");
    }
    SandboxPolicy linked() {
        SandboxPolicy policy = writable();
        policy.filesystem.allow_git_worktree = true;
        policy.filesystem.git_safe_directories.emplace_back("../c");
        return policy;
    }
};

TEST_F(LinkedWorktree, CommitsWithTheOptionOnly) {
    Session refusing = open(writable());
    EXPECT_NE(refusing.sh(kIdentity + std::string("git commit -q --allow-empty -m x")).code(), 0);
    Session session = open(linked());
    EXPECT_TRUE(session.warnings().empty());
    expect_works(session,
                 "git commit -q --allow-empty -m second; echo x > new; git add new; git commit -q -m third");
    expect_works(session,
                 "git branch side; git stash -q || true; git log --oneline | wc -l | grep 3; git gc -q");
}

TEST_F(LinkedWorktree, NeitherSettingsNorHooksNorOthers) {
    Session session = open(linked());
    expect_acts(session, "EACCES|EROFS", at("c"),
                {"append @/.git/config", "create @/.git/hooks/post-commit", "create @/.git/commondir",
                 "append @/.git/worktrees/other/index", "append @/.git/worktrees/other/gitdir",
                 "append @/.git/worktrees/w/commondir", "create @/file"});
    expect_acts(session, "ok", at("c"), {"create @/.git/objects/x", "append @/.git/worktrees/w/HEAD"});
    expect_acts(session, "EACCES|EROFS|EBUSY", at("w"), {"append @/.git", "unlink @/.git"});
}

TEST_F(LinkedWorktree, AForgedPointerGrantsNothing) {
    ignore_below("o");
    host(
        "mkdir -p o/.git/worktrees/w o/.git/objects o/.git/refs; echo ref > o/.git/HEAD;"
        "echo \"gitdir: $PWD/o/.git/worktrees/w\" > w/.git; echo ../.. > o/.git/worktrees/w/commondir;"
        "echo /elsewhere/.git > o/.git/worktrees/w/gitdir");
    Session session = open(linked());
    EXPECT_EQ(session.warnings().size(), 1U);
    expect_acts(session, "EROFS", at("o"),
                {"create @/.git/x", "create @/.git/objects/x", "append @/.git/worktrees/w/gitdir"});
    host(
        "rm o/.git/worktrees/w/gitdir; echo \"$PWD/w/.git\" > o/.git/worktrees/w/gitdir; rmdir "
        "o/.git/objects; ln -s ../dir o/.git/objects");
    Session with_link = open(linked());
    EXPECT_EQ(with_link.warnings().size(), 1U);
    expect_acts(with_link, "EROFS", at("o"), {"create @/dir/x", "create @/.git/x"});
}

}  // namespace
}  // namespace sandpipe::testing
