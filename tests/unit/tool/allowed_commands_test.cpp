#include "tool/allowed_commands.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

namespace sandpipe::tool {
namespace {

using Paths = std::vector<std::string>;

Paths listed(const SandboxPolicy& policy) {
    Paths paths;
    for (const PathPattern& entry : policy.filesystem.allow_execute) paths.push_back(entry.path);
    return paths;
}

std::string refused(const std::string& command, std::string_view path = "/bin:relative:/usr/bin") {
    try {
        static_cast<void>(locate_commands({command}, path));
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        return error.text();
    }
    return "accepted";
}

TEST(AllowedCommands, NamesAreLookedUp) {
    EXPECT_EQ(locate_commands({"sh", "/no/such/program"}, "/nowhere::/bin"),
              (Paths{"/bin/sh", "/no/such/program"}));
    EXPECT_EQ(locate_commands({}, ""), Paths{});
}

TEST(AllowedCommands, WhatIsNoProgramIsNamed) {
    EXPECT_EQ(refused("no-such-program").find("allowed_commands: \"no-such-program\" is not found"), 0U);
    EXPECT_NE(refused("").find("is empty"), std::string::npos);
    EXPECT_NE(refused("bin/x").find("\"bin/x\" is relative"), std::string::npos);
    EXPECT_NE(refused(std::string("a\0b", 3)).find("NUL"), std::string::npos);
    EXPECT_EQ(refused("sh"), "accepted");
}

/// It would grant every program that is in it.
TEST(AllowedCommands, ADirectoryInPathIsNoProgram) {
    EXPECT_NE(refused("bin", "/usr").find("\"bin\" is not found"), std::string::npos);
    EXPECT_EQ(locate_commands({"sh"}, "/usr:/usr/bin"), Paths{"/usr/bin/sh"});
}

TEST(AllowedCommands, BecomeAllowExecuteWithTheShell) {
    SandboxPolicy policy;
    policy.filesystem.allow_write = {"."};
    const SandboxPolicy made = with_allowed_commands(policy, {"/usr/bin/git"}, "/bin/bash");
    EXPECT_TRUE(made.filesystem.restrict_execute);
    EXPECT_EQ(listed(made), (Paths{"/usr/bin/git", "/bin/bash"}));
    EXPECT_TRUE(made.filesystem.allow_execute[0].literal);
    EXPECT_EQ(made.filesystem.allow_write, policy.filesystem.allow_write);
    EXPECT_EQ(listed(with_allowed_commands(policy, {}, "/bin/bash")), Paths{"/bin/bash"});
}

TEST(AllowedCommands, APolicyMayAllowLessAndNotMore) {
    SandboxPolicy policy;
    policy.filesystem.restrict_execute = true;
    policy.filesystem.allow_execute = {"/usr/bin/git", "/bin/bash"};
    EXPECT_EQ(listed(with_allowed_commands(policy, {"/usr/bin/git", "/bin/ls"}, "/bin/bash")),
              (Paths{"/usr/bin/git", "/bin/bash"}));
    try {
        static_cast<void>(with_allowed_commands(policy, {"/bin/ls"}, "/bin/bash"));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::sandbox_policy_conflict);
        EXPECT_NE(error.text().find("/usr/bin/git"), std::string::npos);
    }
}

TEST(AllowedCommands, APolicyWithAListAloneRestrictsToo) {
    SandboxPolicy policy;
    policy.filesystem.allow_execute = {"/usr/bin/git"};
    EXPECT_THROW(static_cast<void>(with_allowed_commands(policy, {"/bin/ls"}, "/bin/bash")), Error);
    EXPECT_EQ(listed(with_allowed_commands(policy, {"/usr/bin/git", "/bin/ls"}, "/bin/bash")), Paths{"/usr/bin/git"});
}

}  // namespace
}  // namespace sandpipe::tool
