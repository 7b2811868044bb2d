#include "sandbox/policy/session_bounds.hpp"

#include <gmock/gmock.h>
#include <sandpipe/error.hpp>

#include "fake_path_facts.hpp"

namespace sandpipe {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// What a path leads to changes between a narrower policy's judgement and its plan; the plan is held to the wider one.
class SessionBounds : public ::testing::Test {
  protected:
    SessionBounds() {
        facts_.directory("/w/a/b").directory("/o").directory("/tmp/x").file("/w/secret/key").file("/bin/true");
    }
    CompiledPolicy wide() const { return compile(wide_, "/w", "/home/u", facts_); }
    CompiledPolicy narrower(const CompiledPolicy& wider) const {
        return compile(asked_, "/w", "/home/u", facts_, {}, &wider);
    }
    test::FakePathFacts facts_;
    SandboxPolicy wide_;
    SandboxPolicy asked_;
};

TEST_F(SessionBounds, GrantNothingMore) {
    wide_.filesystem.allow_write = {"a"};
    wide_.filesystem.deny_read = {"secret"};
    wide_.filesystem.allow_execute = {"/bin/true"};
    wide_.filesystem.restrict_execute = true;
    asked_.filesystem.allow_write = {"a/b", "/o", "secret", "/tmp/x"};
    asked_.filesystem.allow_read = {"secret/key", "/tmp/x"};
    asked_.filesystem.allow_execute = {"/bin/true", "/w/a"};
    asked_.filesystem.restrict_execute = true;
    asked_.filesystem.devices = {"/dev/dri/card0"};
    asked_.network.allow_unix_sockets = {"/o/sock"};
    const CompiledPolicy result = narrower(wide());
    const wire::AccessRules& rules = result.plan.rules;
    EXPECT_TRUE(rules.write("/w/a/b/x").allowed);
    EXPECT_FALSE(rules.write("/o/x").allowed);
    EXPECT_FALSE(rules.in_root("/tmp/x")) << "the host's";
    EXPECT_FALSE(rules.read("/w/secret/key").allowed);
    EXPECT_TRUE(rules.execute("/bin/true").allowed);
    EXPECT_FALSE(rules.execute("/w/a/prog").allowed);
    EXPECT_TRUE(result.devices.empty());
    EXPECT_TRUE(result.plan.unix_sockets.empty());
    for (const char* text : {"allowWrite[1]", "allowWrite[2]", "allowWrite[3]", "allowRead[0]", "allowRead[1]",
                             "allowExecute[1]", "devices[0]", "allowUnixSockets[0]"})
        EXPECT_THAT(result.warnings, Contains(HasSubstr(text)));
}

TEST_F(SessionBounds, KeepDeniedReadsWhereverTheirPathsLeadByNow) {
    facts_.link("/w/way", "secret").directory("/w/other");
    wide_.filesystem.deny_read = {"way"};
    const CompiledPolicy wider = wide();
    facts_.link("/w/way", "other");
    asked_.filesystem.deny_read = {"way"};
    const CompiledPolicy result = narrower(wider);
    EXPECT_FALSE(result.plan.rules.read("/w/secret/key").allowed);
    EXPECT_FALSE(result.plan.rules.read("/w/other/x").allowed);
}

TEST_F(SessionBounds, KeepWhatIsAlwaysDeniedInRootsBelow) {
    facts_.directory("/w/.git/hooks").file("/w/.git/config").file("/w/.git/HEAD").directory("/w/.vscode");
    wide_.filesystem.allow_write = {"."};
    asked_.filesystem.allow_write = {".git", ".vscode"};
    const wire::AccessRules rules = narrower(wide()).plan.rules;
    EXPECT_TRUE(rules.write("/w/.git/index").allowed);
    for (const char* place : {"/w/.git/hooks/x", "/w/.git/config", "/w/.vscode/x"})
        EXPECT_FALSE(rules.write(place).allowed) << place;
}

TEST_F(SessionBounds, ARootInALinkedWorktreeGrantsNoOtherRepository) {
    facts_.directory("/w/wt").file_with("/w/wt/.git", "gitdir: /repo/.git/worktrees/wt\n");
    facts_.file_with("/repo/.git/worktrees/wt/gitdir", "/w/wt/.git\n")
        .file_with("/repo/.git/worktrees/wt/commondir", "../..\n")
        .file("/repo/.git/HEAD")
        .directory("/repo/.git/objects")
        .directory("/repo/.git/refs");
    wide_.filesystem.allow_write = {"."};
    wide_.filesystem.allow_git_worktree = true;
    asked_ = wide_;
    asked_.filesystem.allow_write = {"wt"};
    const CompiledPolicy wider = wide();
    EXPECT_FALSE(wider.plan.rules.write("/repo/.git/objects/x").allowed);
    EXPECT_TRUE(compile(asked_, "/w", "/home/u", facts_).plan.rules.write("/repo/.git/objects/x").allowed);
    EXPECT_FALSE(narrower(wider).plan.rules.write("/repo/.git/objects/x").allowed);
}

TEST_F(SessionBounds, HoldTheWorkspace) {
    const CompiledPolicy wider = wide();
    facts_.link("/w", "/o");
    try {
        (void)narrower(wider);
        ADD_FAILURE() << "another workspace";
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::sandbox_policy_conflict);
        EXPECT_THAT(error.what(), HasSubstr("the workspace /w leads to /o now"));
    }
}

}  // namespace
}  // namespace sandpipe
