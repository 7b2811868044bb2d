#include "sandbox/narrow_policy.hpp"

#include <gtest/gtest.h>
#include <sandpipe/error.hpp>
#include <sandpipe/explain.hpp>

#include <filesystem>

#include "support/temp_tree.hpp"

namespace sandpipe {
namespace {

/// On a small tree of real directories: a policy meets the files when it is judged.
class NarrowPolicy : public ::testing::Test {
  protected:
    NarrowPolicy() {
        for (const char* directory : {"w/a/b", "w/c", "o"})
            std::filesystem::create_directories(root_ + "/" + directory);
        wide.filesystem.allow_write = {"."};
    }

    [[nodiscard]] std::string workspace() const { return root_ + "/w"; }
    [[nodiscard]] SandboxPolicy narrowed() const {
        const CompiledPolicy compiled = compile(wide, workspace(), "/home/u", HostPathFacts(), "/bin/sh");
        return narrow_policy({wide, compiled, "/home/u", "/bin/sh"}, asked);
    }
    /// "" if it is none.
    [[nodiscard]] std::string conflict() const {
        try {
            (void)narrowed();
            return {};
        } catch (const Error& error) {
            EXPECT_EQ(error.errc(), Errc::sandbox_policy_conflict) << error.text();
            return error.text();
        }
    }
    [[nodiscard]] bool says(ExplainedAct act, const std::string& target) const {
        return explain(narrowed(), workspace(), act, target).allowed;
    }

    SandboxPolicy wide;
    SandboxPolicy asked;

  private:
    const testing::TempTree tree_;
    const std::string root_ = tree_.path();
};

TEST_F(NarrowPolicy, TheSamePolicyStaysAsItIs) {
    wide.filesystem.deny_read = {"a", "c"};
    wide.filesystem.allow_read = {"a/b", "c"};
    wide.network.allowed_domains = {"a.b", "*.c.d:443"};
    wide.network.denied_domains = {"x.c.d"};
    wide.network.denied_domain_reasons = {{"x.c.d", "no"}};
    wide.filesystem.mandatory_deny_except = {".vscode"};
    asked = wide;
    EXPECT_EQ(narrowed(), wide);
}

TEST_F(NarrowPolicy, WritingIsWhatBothAllow) {
    wide.filesystem.deny_write = {"a/b"};
    asked.filesystem.allow_write = {"a"};
    EXPECT_TRUE(says(ExplainedAct::write, "a/x"));
    EXPECT_FALSE(says(ExplainedAct::write, "a/b/x")) << "the session denies it";
    EXPECT_FALSE(says(ExplainedAct::write, "c/x")) << "not asked for";
    for (const char* path : {"../o", "/etc", "a/b"}) {
        asked.filesystem.allow_write = {path};
        EXPECT_NE(conflict().find(path), std::string::npos) << path;
    }
}

TEST_F(NarrowPolicy, ReadingIsWhatBothAllow) {
    wide.filesystem.deny_read = {"a"};
    wide.filesystem.allow_read = {"a/b"};
    EXPECT_TRUE(says(ExplainedAct::read, "a/b")) << "the session's own exception stays";
    asked.filesystem.deny_read = {"a/b"};
    EXPECT_FALSE(says(ExplainedAct::read, "a/b")) << "but not against the narrower policy";
    asked.filesystem.deny_read = {"."};
    EXPECT_FALSE(says(ExplainedAct::read, "a/b"));
    asked.filesystem.allow_read = {"c"};
    EXPECT_TRUE(says(ExplainedAct::read, "c"));
    EXPECT_FALSE(says(ExplainedAct::read, "a"));
    asked.filesystem.allow_read = {"a"};
    EXPECT_NE(conflict().find("allowRead \"a\""), std::string::npos);
    asked.filesystem.allow_read = {"../o"};
    EXPECT_NE(conflict().find("own /tmp"), std::string::npos);
    asked.filesystem.allow_read = {"a/*"};
    EXPECT_NE(conflict(), "");
}

TEST_F(NarrowPolicy, ExecutionIsWhatBothAllow) {
    asked.filesystem.restrict_execute = true;
    asked.filesystem.allow_execute = {"/bin/true"};
    EXPECT_TRUE(narrowed().filesystem.restrict_execute);
    wide.filesystem.restrict_execute = true;
    wide.filesystem.allow_execute = {"/bin/cat"};
    EXPECT_NE(conflict().find("/bin/true"), std::string::npos);
    asked.filesystem.restrict_execute = false;
    asked.filesystem.allow_execute.clear();
    EXPECT_EQ(narrowed().filesystem.allow_execute, wide.filesystem.allow_execute);
}

TEST_F(NarrowPolicy, AListOfProgramsRestrictsExecutionByItself) {
    wide.filesystem.allow_execute = {"/bin/cat"};
    EXPECT_TRUE(says(ExplainedAct::exec, "/bin/cat"));
    EXPECT_FALSE(says(ExplainedAct::exec, "/bin/ls")) << "nobody asked for more";
    asked.filesystem.allow_execute = {"/bin/ls"};
    EXPECT_NE(conflict().find("/bin/ls"), std::string::npos);
}

TEST_F(NarrowPolicy, DomainsAreCoveredOrRefused) {
    wide.network.allowed_domains = {"*.a.b:443", "c.d"};
    wide.network.denied_domains = {"x.a.b"};
    asked.network.allowed_domains = {"y.a.b:443", "c.d:80"};
    EXPECT_EQ(conflict(), "");
    EXPECT_EQ(narrowed().network.denied_domains, std::vector<std::string>{"x.a.b"});
    for (const char* domain : {"y.a.b", "a.b:443", "e.f"}) {
        asked.network.allowed_domains = {domain};
        EXPECT_NE(conflict().find(domain), std::string::npos) << domain;
    }
}

TEST_F(NarrowPolicy, SwitchesAndListsGrantNothingNew) {
    const auto refused = [&](const char* name, auto set) {
        asked = {};
        set(asked);
        EXPECT_NE(conflict().find(name), std::string::npos) << name << ": " << conflict();
    };
    refused("filesystem.disabled", [](SandboxPolicy& policy) { policy.filesystem.disabled = true; });
    refused("network.disabled", [](SandboxPolicy& policy) { policy.network.disabled = true; });
    refused("allowGitConfig", [](SandboxPolicy& policy) { policy.filesystem.allow_git_config = true; });
    refused(".vscode", [](SandboxPolicy& policy) { policy.filesystem.mandatory_deny_except = {".vscode"}; });
    refused("/dev/kvm", [](SandboxPolicy& policy) { policy.filesystem.devices = {"/dev/kvm"}; });
    refused("/run/x", [](SandboxPolicy& policy) { policy.network.allow_unix_sockets = {"/run/x"}; });
}

TEST_F(NarrowPolicy, TheSmallerLimitHolds) {
    wide.limits.tmp_bytes = 100;
    EXPECT_EQ(narrowed().limits.tmp_bytes, 100u);
    asked.limits.tmp_bytes = 50;
    EXPECT_EQ(narrowed().limits.tmp_bytes, 50u);
    asked.limits.tmp_bytes = 200;
    EXPECT_EQ(narrowed().limits.tmp_bytes, 100u);
}

}  // namespace
}  // namespace sandpipe
