#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>
#include <sandpipe/command_stream.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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

/// A name in the host's /tmp for a program, gone with the test.
struct InTmp {
    explicit InTmp(const std::string& text) : path("/tmp/sandpipe-hint-" + std::to_string(::getpid())) {
        std::filesystem::create_directory(path);
        std::ofstream(program()) << text;
        std::filesystem::permissions(program(), std::filesystem::perms{0755});
    }
    InTmp(const InTmp&) = delete;
    InTmp& operator=(const InTmp&) = delete;
    ~InTmp() { std::filesystem::remove_all(path); }
    [[nodiscard]] std::string program() const { return path + "/prog"; }
    const std::string path;
};

TEST_F(StartErrors, WhatTheSessionsOwnTmpHidesIsHintedAt) {
    const InTmp hidden("#!/bin/sh\necho ran\n");
    Session session = open();
    const auto hint = [&](BinaryInvocation invocation) {
        const Ran ran = session.run(std::move(invocation));
        const auto* failure = std::get_if<NotStarted>(&ran.result.status);
        return failure ? failure->hint : "it started";
    };
    const std::string text = "; the session has a /tmp of its own";
    EXPECT_NE(hint(command(hidden.program())).find(text), std::string::npos);
    EXPECT_NE(hint(command("true").cwd(hidden.path)).find(text), std::string::npos);
    Environment path;
    path.set("PATH", "/nope:" + hidden.path);
    EXPECT_NE(hint(command("prog").env(path)).find(text), std::string::npos);
    EXPECT_EQ(hint(command("/nope/prog")).find(text), std::string::npos);
    SandboxPolicy policy = writable();
    policy.filesystem.allow_read = {hidden.path};
    EXPECT_EQ(open(policy).run(command(hidden.program())).out, "ran\n");
    EXPECT_EQ(open(policy).run(command("/nope/prog")).result.failed, true);
}

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
    EXPECT_EQ(ran.denied(), std::vector<std::string>{"chdir " + at("o") + " EACCES"});
    EXPECT_EQ(ran.out, "");
}

class RefusedStarts : public StartErrors {
  protected:
    void SetUp() override {
        StartErrors::SetUp();
        host(
            "cp /bin/true w/prog; cp /bin/true o/prog; printf '#!%s/o/prog\\n' \"$PWD\" > w/script; chmod +x w/script;"
            "printf '#!/none\\n' > w/lost; chmod +x w/lost; mkdir w/away; ln -s ../o/prog w/link");
        seal();
        execution_.filesystem.allow_execute = {"prog", "script", "lost"};
        execution_.filesystem.restrict_execute = true;
        reading_.filesystem.deny_read = {"../o", "away"};
    }

    /// The start's stage and errno, its denials, and its hint; "ok" if the program ran.
    std::string start(const SandboxPolicy& policy, BinaryInvocation invocation) {
        Session session = open(policy);
        const Ran ran = session.run(std::move(invocation));
        const auto* failure = std::get_if<NotStarted>(&ran.result.status);
        if (!failure) return "ok";
        std::string text = std::string(to_string(failure->stage)) + " " + errno_name(failure->error.value());
        for (const Denial& denial : ran.result.denials)
            text += ", " + std::string(to_string(denial.kind)) + " " + denial.operation + " " + denial.resolved +
                    " by " + denial.rule;
        const bool named =
            !ran.result.denials.empty() && failure->hint == "the policy denies it: " + ran.result.denials[0].rule;
        EXPECT_EQ(named, !ran.result.denials.empty()) << failure->hint;
        // Before the end, and nothing after it.
        EXPECT_TRUE(std::holds_alternative<Finished>(ran.events.back()));
        return text;
    }

    SandboxPolicy execution_;
    SandboxPolicy reading_;
};

TEST_F(RefusedStarts, AProgramThatIsNotListedIsOneDenial) {
    EXPECT_EQ(start(execution_, command("/bin/true")), "permission EACCES, exec exec /usr/bin/true by allowExecute");
    EXPECT_EQ(start(execution_, command("../o/prog")),
              "permission EACCES, exec exec " + at("o/prog") + " by allowExecute");
    EXPECT_EQ(start(execution_, command("true").env(Environment::empty().set("PATH", "/usr/bin"))),
              "permission EACCES, exec exec /usr/bin/true by allowExecute");
    EXPECT_EQ(start(execution_, command("./script")), "permission EACCES, exec exec " + at("o/prog") +
                                                          " by allowExecute (interpreter of " + at("w/script") + ")");
    EXPECT_EQ(start(execution_, command("./prog")), "ok");
}

TEST_F(RefusedStarts, AProgramOrCwdThatCannotBeReadIsOneDenial) {
    const std::string denied = ", exec exec " + at("o/prog") + " by denyRead ../o";
    EXPECT_EQ(start(reading_, command(at("o/prog"))), "permission EACCES" + denied);
    EXPECT_EQ(start(reading_, command("../o/dir/../prog").cwd(at("w"))),
              "permission EACCES, exec exec " + at("o/dir") + " by denyRead ../o");
    EXPECT_EQ(start(reading_, command("./link")), "permission EACCES" + denied);
    EXPECT_EQ(start(reading_, command("./script")),
              "permission EACCES" + denied + " (interpreter of " + at("w/script") + ")");
    EXPECT_EQ(start(reading_, command("prog").env(Environment::empty().set("PATH", at("o")))),
              "program ENOENT" + denied);
    EXPECT_EQ(start(reading_, command("/bin/true").cwd(at("o"))),
              "cwd EACCES, read chdir " + at("o") + " by denyRead ../o");
    EXPECT_EQ(start(reading_, command("/bin/true").cwd("away")),
              "cwd EACCES, read chdir " + at("w/away") + " by denyRead away");
    EXPECT_EQ(start(reading_, command("./prog")), "ok");
}

// What fails for another reason is no denial.
TEST_F(RefusedStarts, OtherFailuresAreNone) {
    for (const SandboxPolicy& policy : {execution_, reading_}) {
        EXPECT_EQ(start(policy, command("/none")), "program ENOENT");
        EXPECT_EQ(start(policy, command("./lost")), "interpreter ENOENT");
        EXPECT_EQ(start(policy, command("none").env(Environment::empty().set("PATH", "/none:/usr/bin"))),
                  "program ENOENT");
    }
    EXPECT_EQ(start(reading_, command("./file")), "permission EACCES");
    EXPECT_EQ(start(reading_, command("/etc")), "program EACCES");
}

TEST_F(RefusedStarts, TheCommandLineSaysSoAndExitsWith126) {
    const auto run = [&](const std::string& options) {
        return std::system(("cd '" + at("w") + "' && '" + test_program("sandpipe") + "' run --deny-read ../o " +
                            options + " -- ../o/prog > '" + at("log") + "' 2>&1 < /dev/null")
                               .c_str());
    };
    ignore_below("log");
    EXPECT_EQ(WEXITSTATUS(run("--json")), 126);
    const std::string lines = read_file(at("log"));
    const std::size_t end = lines.find('\n');
    const auto denied = nlohmann::json::parse(lines.substr(0, end));
    const auto ended = nlohmann::json::parse(lines.substr(end));
    EXPECT_EQ(denied["event"], "denied");
    EXPECT_EQ(denied["kind"], "exec");
    EXPECT_EQ(denied["rule"], "denyRead ../o");
    EXPECT_EQ(ended["denials"], 1);
    EXPECT_EQ(ended["start_failure"]["errno"], "EACCES");
    EXPECT_EQ(ended["start_failure"]["hint"], "the policy denies it: denyRead ../o");
    EXPECT_EQ(WEXITSTATUS(run("")), 126);
    EXPECT_NE(read_file(at("log")).find("denied: exec ../o/prog"), std::string::npos) << read_file(at("log"));
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

// Such a link leads nowhere, whoever made it.
TEST_F(StartErrors, LinksWithoutEndStopNoStart) {
    host("ln -s loop w/loop; ln -s .vscode w/.vscode; ln -s two-b w/two-a; ln -s two-a w/two-b; ln -s loop/x w/dir/by");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"loop", "two-a/deeper", "dir/by"};
    policy.filesystem.deny_write = {"two-b", "loop/../dir"};
    seal();
    Session session = open(policy);
    const Ran ran = session.sh("cat loop two-a dir/by; rm loop; mkdir -p .vscode; ln -sf ../o/file two-b; cat file");
    EXPECT_EQ(ran.out, "content of /file\n") << ran.err;
}

// What this process can walk through, though it may not look into it, its commands can too.
TEST_F(StartErrors, AWorkspaceBelowDirectoriesThatCannotBeListed) {
    host("mkdir -p p/q/w; chmod 0111 p/q; chmod 0711 p");
    SrtEnforcerOptions options;
    options.workspace = at("p/q/w");
    options.policy = writable();
    ignore_below("p");
    seal();
    std::shared_ptr<SandboxEnforcer> enforcer;
    drive([&]() -> awaitable<void> { enforcer = co_await srt_enforcer(runtime(), options); });
    Session session = open();
    const Ran ran = session.sh("true");
    EXPECT_EQ(ran.code(), 0);
    drive([&]() -> awaitable<void> {
        CommandStream stream = co_await enforcer->run(enforcer->shell("echo x > new && cat new && ! echo x > ../new"));
        const CommandResult result = co_await stream.finish();
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_EQ(result.denials.size(), 1U);
        co_await enforcer->close();
    });
    host("chmod 0755 p/q; test -s p/q/w/new && ! test -e p/q/new");
}

}  // namespace
}  // namespace sandpipe::testing
