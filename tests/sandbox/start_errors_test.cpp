#include <sys/wait.h>
#include <nlohmann/json.hpp>
#include <sandpipe/error.hpp>

#include <cstdlib>
#include <filesystem>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

class StartErrors : public SandboxTest {
  protected:
    /// The exit status of the command line, with the working directory in `w`.
    int command_line(const std::string& prefix, const std::string& options, const std::string& line) {
        const std::string all = "cd '" + at("w") + "' && " + prefix + " '" + test_program("sandpipe") +
                                "' run " + options + " -c '" + line + "' > '" + at("log") +
                                "' 2>&1 < /dev/null";
        const int status = std::system(all.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

TEST_F(StartErrors, WrongPoliciesAreRefusedByName) {
    const struct {
        const char* json;
        const char* named;
    } cases[] = {
        {R"({"filesystem":{"allowWrites":["."]}})", "allowWrites"},
        {R"({"filesystems":{}})", "filesystems"},
        {R"({"filesystem":{"allowWrite":"."}})", "allowWrite"},
        {R"({"filesystem":{"allowWrite":[1]}})", "allowWrite"},
        {R"({"filesystem":{"denyRead":[""]}})", "denyRead"},
        {R"({"filesystem":{"denyRead":["a/*/../b"]}})", "denyRead"},
        {R"({"filesystem":{"denyWrite":["[[:alpha:]]"]}})", "denyWrite"},
        {R"({"filesystem":{"denyWrite":["a\u0000b"]}})", "denyWrite"},
        {R"({"filesystem":{"denyRead":["~other/x"]}})", "denyRead"},
        {R"({"filesystem":{"allowWrite":["/nope/nope"]}})", "/nope/nope"},
        {R"({"filesystem":{"allowWrite":["/"]}})", "allowWrite"},
        {R"({"filesystem":{"allowWrite":["/proc"]}})", "/proc"},
        {R"({"filesystem":{"allowWrite":["/sys/kernel"]}})", "/sys"},
        {R"({"filesystem":{"denyRead":["/"]}})", "denyRead"},
        {R"({"filesystem":{"mandatoryDenyExcept":["x"]}})", "mandatoryDenyExcept"},
        {R"({"limits":{"pids":1}})", "limits.pids"},
        {R"({"network":{"allowedDomains":["https://a.b/"]}})", "allowedDomains"},
        {R"({"network":{"deniedDomains":["127.1"]}})", "deniedDomains"},
        {R"({"limits":{"pids":3}})", "pids"},
        {R"({"allowNestedUserNamespaces":true})", "allowNestedUserNamespaces"},
    };
    for (const auto& entry : cases) {
        std::string text;
        try {
            text = refusal(SandboxPolicy::from_json(nlohmann::json::parse(entry.json)));
        } catch (const Error& error) {
            EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
            text = error.what();
        }
        EXPECT_NE(text.find(entry.named), std::string::npos) << entry.json << ": " << text;
    }
}

TEST_F(StartErrors, FailedStartsAreResults) {
    Session session = open();
    const auto stage = [&](BinaryInvocation invocation) {
        const Ran ran = session.run(std::move(invocation));
        EXPECT_EQ(ran.result.cause, Cause::not_started);
        const auto* failure = std::get_if<NotStarted>(&ran.result.status);
        return failure ? std::string(to_string(failure->stage)) + " " + errno_name(failure->error.value())
                       : "started";
    };
    EXPECT_EQ(stage(command("/nope/program")), "program ENOENT");
    EXPECT_EQ(stage(command("no-such-program").env(Environment::empty().set("PATH", "/usr/bin:/bin"))),
              "program ENOENT");
    EXPECT_EQ(stage(command(at("w/file"))), "permission EACCES");
    EXPECT_EQ(stage(command("/bin/true").cwd("/nope")), "cwd ENOENT");
    EXPECT_EQ(stage(command("/bin/true").cwd(at("w/file"))), "cwd ENOTDIR");
    EXPECT_EQ(session.sh("echo still here").out, "still here\n");
}

TEST_F(StartErrors, ADeniedCwdIsNoStart) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"../o"};
    Session session = open(policy);
    const Ran ran = session.run(session.shell("pwd; touch x").cwd(at("o")));
    EXPECT_EQ(ran.result.cause, Cause::not_started);
    EXPECT_EQ(ran.out, "");
}

// Each call is refused to everything that runs, as by a container or an old kernel.
TEST_F(StartErrors, WhatTheMachineRefusesStopsTheStart) {
    const std::string without = test_program("attack_without");
    ASSERT_EQ(command_line("", "", "touch made"), 0) << read_file(at("log"));
    ASSERT_EQ(command_line("'" + without + "' none", "", "touch made2"), 0) << read_file(at("log"));
    for (const char* call : {"userns", "seccomp", "landlock", "open_tree", "move_mount", "mount_setattr",
                             "fsmount", "prctl", "capset"}) {
        EXPECT_EQ(command_line("'" + without + "' " + call, "", "touch never"), 125)
            << call << ": " << read_file(at("log"));
        EXPECT_FALSE(std::filesystem::exists(at("w/never"))) << call;
        EXPECT_FALSE(read_file(at("log")).empty()) << call;
    }
}

TEST_F(StartErrors, TheCommandLineRefusesBadOptions) {
    for (const char* options : {"--allow-write /nope", "--deny-read '*/../x'", "--workspace /nope",
                                "--settings /nope", "--nonsense", "--bin-shell nope", "--timeout never"}) {
        EXPECT_EQ(command_line("", options, "touch never"), 125) << options << read_file(at("log"));
        EXPECT_FALSE(std::filesystem::exists(at("w/never"))) << options;
    }
    EXPECT_EQ(command_line("", "", "exit 42"), 42);
    EXPECT_EQ(command_line("", "", "kill -9 $$"), 137);
}

TEST_F(StartErrors, TheCommandLineSaysWhatWasDenied) {
    EXPECT_NE(command_line("", "", "touch ../o/new"), 0);
    const std::string log = read_file(at("log"));
    EXPECT_NE(log.find("denied: write ../o/new"), std::string::npos) << log;
    EXPECT_NE(log.find(at("o/new")), std::string::npos) << log;
    EXPECT_LT(log.find("denied"), log.find("touch:")) << log;
}

}  // namespace
}  // namespace sandpipe::testing
