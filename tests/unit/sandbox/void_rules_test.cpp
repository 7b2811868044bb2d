#include <gmock/gmock.h>
#include <sandpipe/error.hpp>

#include <string>

#include "fake_path_facts.hpp"
#include "sandbox/policy/compile.hpp"

namespace sandpipe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a policy says in vain is an error or a warning, and nothing else is.
class VoidRules : public ::testing::Test {
  protected:
    CompiledPolicy compiled(const std::string& workspace = "/w") const {
        return compile(policy_, workspace, "/home/u", facts_);
    }
    std::string refusal(const std::string& workspace = "/w") const {
        try {
            (void)compiled(workspace);
        } catch (const Error& error) {
            return error.text();
        }
        return {};
    }
    test::FakePathFacts facts_;
    SandboxPolicy policy_;
};

TEST_F(VoidRules, TheSessionsOwnDeviceCannotBeDeniedByItsName) {
    for (const char* place : {"/dev", "/dev/null", "/dev/../dev/tty", "/dev/shm"}) {
        policy_.filesystem.deny_read = {place};
        EXPECT_THAT(refusal(), HasSubstr("is the session's own and cannot be denied")) << place;
        policy_.filesystem.deny_read.clear();
        policy_.filesystem.deny_write = {place};
        EXPECT_THAT(refusal(), HasSubstr("filesystem.denyWrite[0]: /dev")) << place;
        policy_.filesystem.deny_write.clear();
    }
    facts_.link("/home/u/.history", "/dev/null");
    policy_.filesystem.deny_read = {"~/.history", "/dev/sda"};
    EXPECT_THAT(compiled().warnings, ElementsAre(HasSubstr("/dev/null is the session's own and not denied")));
}

TEST_F(VoidRules, AWorkspaceWithSomethingShownInItCanBeStartedIn) {
    facts_.file("/w/par/p/f").file("/w/par/g");
    policy_.filesystem.deny_read = {"../.."};
    EXPECT_THAT(compiled("/w/par/p").warnings, ElementsAre(HasSubstr("no command can start in the workspace")));
    policy_.filesystem.allow_read = {"f"};
    EXPECT_THAT(compiled("/w/par/p").warnings, IsEmpty());
    policy_.filesystem.allow_read = {"../g"};
    EXPECT_THAT(compiled("/w/par/p").warnings, ElementsAre(HasSubstr("no command can start in the workspace")));
}

TEST_F(VoidRules, BesideTheSwitchAreNamed) {
    policy_.filesystem.disabled = true;
    EXPECT_THAT(compiled().warnings, IsEmpty());
    policy_.filesystem.deny_read = {"s"};
    policy_.filesystem.deny_write = {"s"};
    EXPECT_THAT(compiled().warnings,
                ElementsAre("filesystem.disabled is true, so these grant and deny nothing: "
                            "filesystem.denyRead, filesystem.denyWrite"));
}

TEST_F(VoidRules, TheWorkspaceThatCannotBeWrittenIsCalledThat) {
    policy_.filesystem.allow_write = {"."};
    EXPECT_THAT(refusal("/"), HasSubstr("the workspace / cannot be made writable"));
    policy_.filesystem.allow_write = {"/"};
    EXPECT_THAT(refusal("/"), ::testing::Not(HasSubstr("the workspace")));
    policy_.filesystem.allow_write.clear();
    EXPECT_EQ(refusal("/"), "");
}

TEST_F(VoidRules, ASizeThatIsNoneStaysALimit) {
    policy_.limits.tmp_bytes = ~std::uint64_t{0};
    std::vector<std::uint64_t> sizes;
    for (const wire::MountOp& op : compiled().plan.mounts)
        if (op.step == wire::MountStep::private_tmp) sizes.push_back(op.bytes);
    EXPECT_THAT(sizes, ElementsAre(~std::uint64_t{0} >> 1));
}

TEST_F(VoidRules, WarningsAreLinesOfBoundedLength) {
    policy_.filesystem.allow_read = {"a\nb", std::string(3000, 'x')};
    const CompiledPolicy result = compiled();
    ASSERT_EQ(result.warnings.size(), 2U);
    for (const std::string& warning : result.warnings) {
        EXPECT_EQ(warning.find('\n'), std::string::npos);
        EXPECT_LT(warning.size(), 1300U);
    }
}

TEST_F(VoidRules, AKernelMountIsNamedByNoLinkOfACommand) {
    facts_.directory("/w/ch/proc/sys").mounted("24 20 0:0 / /w/ch/proc rw - proc proc rw\n").link("/w/p", "ch/proc");
    policy_.filesystem.allow_write = {"."};
    policy_.filesystem.allow_read = {"p"};
    EXPECT_FALSE(compiled().plan.rules.read("/w/ch/proc/sys").allowed);
    policy_.filesystem.allow_read = {"p/sys"};
    EXPECT_FALSE(compiled().plan.rules.read("/w/ch/proc/sys").allowed);
    policy_.filesystem.allow_read = {"ch/proc"};
    EXPECT_TRUE(compiled().plan.rules.read("/w/ch/proc/sys").allowed);
}

}  // namespace
}  // namespace sandpipe
