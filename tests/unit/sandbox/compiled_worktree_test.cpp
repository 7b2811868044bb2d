#include "sandbox/policy/compile.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiled_policy.hpp"

namespace sandpipe {
namespace {

using namespace test;

class Worktree : public ::testing::Test {
  protected:
    Worktree() {
        facts_.file_with("/w/.git", "gitdir: /main/.git/worktrees/w\n");
        facts_.file_with("/main/.git/worktrees/w/gitdir", "/w/.git\n")
            .file_with("/main/.git/worktrees/w/commondir", "../..\n");
        facts_.file("/main/.git/HEAD")
            .directory("/main/.git/objects")
            .directory("/main/.git/refs")
            .file("/main/.git/config");
        facts_.directory("/main/.git/worktrees/other").directory("/secret/objects");
    }
    CompiledPolicy compiled() {
        SandboxPolicy policy = policy_of({{}, {}, {"."}, {}});
        policy.filesystem.allow_git_worktree = true;
        return compile_both_ways(policy, facts_);
    }
    void expect_refused(const std::string& why) {
        const CompiledPolicy made = compiled();
        EXPECT_EQ(made.plan.rules.writable_roots(), std::vector<std::string>{"/w"}) << why;
        EXPECT_TRUE(warns_of(made, "filesystem.allowGitWorktree grants nothing for /w: ")) << why;
        EXPECT_TRUE(warns_of(made, why)) << ::testing::PrintToString(made.warnings);
    }
    FakePathFacts facts_;
};

TEST_F(Worktree, ItsRepositoryCanBeWrittenButForItsSettings) {
    const CompiledPolicy made = compiled();
    const wire::AccessRules& rules = made.plan.rules;
    EXPECT_TRUE(made.warnings.empty());
    for (const char* place : {"/main/.git/objects/x", "/main/.git/refs/heads/b",
                              "/main/.git/worktrees/w/HEAD", "/main/.git/packed-refs.lock"})
        EXPECT_TRUE(rules.write(place).allowed) << place;
    for (const char* place : {"/main/.git/config", "/main/.git/hooks/x", "/main/.git/worktrees/other/index",
                              "/main/.git/worktrees/other/commondir", "/main/.git/worktrees/w/commondir",
                              "/w/.git", "/main/file", "/main/.git/commondir"})
        EXPECT_FALSE(rules.write(place).allowed) << place;
    SandboxPolicy without = policy_of({{}, {}, {"."}, {}});
    EXPECT_FALSE(compile_both_ways(without, facts_).plan.rules.write("/main/.git/objects/x").allowed);
}

TEST_F(Worktree, ForgedPointersGrantNothing) {
    facts_.file_with("/w/.git", "gitdir: /secret\n");
    expect_refused("/secret is no entry of a repository's worktrees");
    facts_.file_with("/w/.git", "nothing\n");
    expect_refused("has no \"gitdir: \"");
    facts_.file_with("/w/.git", "gitdir: /main/.git/worktrees/other\n");
    expect_refused("/gitdir does not lead back to /w/.git");
    facts_.link("/w/way", "/main/.git").file_with("/w/.git", "gitdir: way/worktrees/w\n");
    expect_refused("leads through a symbolic link");
    facts_.file_with("/w/.git", "gitdir: /nope\n");
    expect_refused("to no directory");
}

TEST_F(Worktree, ForgedRepositoriesGrantNothing) {
    facts_.file_with("/main/.git/worktrees/w/gitdir", "/elsewhere/.git\n");
    expect_refused("does not lead back");
    facts_.file_with("/main/.git/worktrees/w/gitdir", "/w/.git\n");
    facts_.file_with("/main/.git/worktrees/w/commondir", "/secret\n");
    expect_refused("commondir does not lead to /main/.git");
    facts_.file_with("/main/.git/worktrees/w/commondir", "../..\n")
        .link("/main/.git/objects", "/secret/objects");
    expect_refused("/main/.git/objects is not what git makes");
    facts_.directory("/main/.git/objects").link("/main/.git/logs", "/secret");
    expect_refused("/main/.git/logs is not what git makes");
    facts_.file("/main/.git/logs").link("/w/.git", "/main/.git");
    expect_refused("/w/.git is a symbolic link");
}

}  // namespace
}  // namespace sandpipe
