#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <sandpipe/error.hpp>
#include <sandpipe/tool/path_translator.hpp>

#include <gtest/gtest.h>

#include <filesystem>

#include "fake_enforcer.hpp"
#include "support/temp_tree.hpp"

namespace sandpipe {
namespace {

using nlohmann::json;
using testing::answers;
using testing::FakeEnforcer;
using testing::ReachedTheSandbox;

class Tool : public ::testing::Test {
  protected:
    RunShellCommandToolOptions options(Gate gate = answers(Approved{})) {
        RunShellCommandToolOptions made;
        made.enforcer = enforcer_;
        made.gate = std::move(gate);
        made.workspace = ::testing::TempDir();
        made.on_sandbox = [this](const AuditEvent& event) { events_.push_back(event); };
        return made;
    }

    ToolResult call(RunShellCommandToolOptions made, json input, ToolContext context = {}) {
        const RunShellCommandTool tool(std::move(made));
        return testing::run_alone(tool.call(std::move(input), std::move(context)));
    }

    /// The shell of the session that the call's command would run in.
    std::string shell_reached(RunShellCommandToolOptions made, ToolContext context = {}) {
        try {
            return "not reached: " + call(std::move(made), json{{"command", "ls"}}, std::move(context)).text;
        } catch (const ReachedTheSandbox& reached) {
            return reached.what();
        }
    }

    static std::optional<Errc> refused(const RunShellCommandToolOptions& wrong) {
        try {
            const RunShellCommandTool tool(wrong);
        } catch (const Error& error) {
            return error.errc();
        }
        return {};
    }

    /// Why start() refuses.
    std::optional<Errc> start_refused(RunShellCommandToolOptions made, json input, ToolContext context = {}) {
        const RunShellCommandTool tool(std::move(made));
        try {
            static_cast<void>(testing::run_alone(tool.start(std::move(input), std::move(context))));
        } catch (const Error& error) {
            return error.errc();
        }
        return {};
    }

    [[nodiscard]] std::vector<std::string> kinds() const {
        std::vector<std::string> names;
        for (const AuditEvent& event : events_) names.emplace_back(kind_name(event));
        return names;
    }

    std::shared_ptr<FakeEnforcer> enforcer_ = std::make_shared<FakeEnforcer>();
    std::vector<AuditEvent> events_;
};

using Kinds = std::vector<std::string>;

TEST_F(Tool, WrongOptionsAreRefusedAtConstruction) {
    EXPECT_EQ(refused(options(nullptr)), Errc::sandbox_gate_required);
    EXPECT_EQ(refused(options()), std::nullopt);
    const std::pair<const char*, std::function<void(RunShellCommandToolOptions&)>> mistakes[] = {
        {"enforcer", [](auto& made) { made.enforcer = nullptr; }},
        {"text_limit", [](auto& made) { made.text_limit = 999; }},
        {"workspace", [](auto& made) { made.workspace = ""; }},
        {"workspace", [](auto& made) { made.workspace = "/no/such/place"; }},
        {"gate_timeout", [](auto& made) { made.gate_timeout = std::chrono::seconds{0}; }},
        {"gate_timeout", [](auto& made) { made.gate_timeout = std::chrono::seconds{-1}; }},
        {"quota", [](auto& made) { made.spool.quota_bytes = 0; }},
        {"allowed_commands", [](auto& made) { made.allowed_commands = {{"no-such-program"}}; }},
    };
    for (const auto& [name, mistake] : mistakes) {
        RunShellCommandToolOptions wrong = options();
        mistake(wrong);
        EXPECT_EQ(refused(wrong), Errc::invalid_sandbox_config) << name;
    }
}

TEST_F(Tool, WrongInputAsksNobody) {
    std::vector<ToolRequest> asked;
    const json wrong{{"command", "x"}, {"timeout_seconds", 0}};
    const ToolResult result = call(options(answers(Approved{}, &asked)), wrong);
    EXPECT_TRUE(result.is_error);
    EXPECT_NE(result.text.find("timeout_seconds is 0"), std::string::npos);
    EXPECT_EQ(result.summary["error"], "E_INVALID_SANDBOX_CONFIG");
    EXPECT_EQ(result.summary["gate"], nullptr);
    EXPECT_EQ(start_refused(options(answers(Approved{}, &asked)), wrong), Errc::invalid_sandbox_config);
    EXPECT_TRUE(asked.empty());
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(Tool, TheGateSeesTheRequest) {
    std::vector<ToolRequest> asked;
    ToolContext context;
    context.call_id = "toolu_1";
    const ToolResult result = call(options(answers(Declined{}, &asked)),
                                   json{{"command", "ls"}, {"cwd", "src"}, {"timeout_seconds", 5}}, context);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].tool, "run_shell_command");
    EXPECT_EQ(asked[0].command, "ls");
    EXPECT_EQ(asked[0].cwd, "src");
    EXPECT_EQ(asked[0].timeout, std::chrono::seconds{5});
    EXPECT_EQ(asked[0].call_id, "toolu_1");
    EXPECT_EQ(result.summary["call_id"], "toolu_1");
}

TEST_F(Tool, OnlyAnApprovalRuns) {
    for (const GateDecision& decision : {GateDecision(Declined{"why not"}), GateDecision(GateTimedOut{}),
                                         GateDecision(GateAborted{}), GateDecision{}}) {
        const ToolResult result = call(options(answers(decision)), json{{"command", "ls"}});
        EXPECT_TRUE(result.is_error);
        EXPECT_EQ(result.summary["error"], "E_SANDBOX_REFUSED");
        EXPECT_EQ(result.summary["gate"], to_string(decision));
        EXPECT_EQ(result.summary["reason"], result.text);
        EXPECT_EQ(start_refused(options(answers(decision)), json{{"command", "ls"}}), Errc::sandbox_refused);
        EXPECT_TRUE(enforcer_->runs.empty());
    }
    EXPECT_EQ(shell_reached(options()), "/bin/sh");
    EXPECT_EQ(enforcer_->runs.size(), 1U);
}

TEST_F(Tool, ACwdOutsideIsRefusedAfterTheGate) {
    std::vector<ToolRequest> asked;
    const json outside{{"command", "ls"}, {"cwd", "../x"}};
    const ToolResult result = call(options(answers(Approved{}, &asked)), outside);
    EXPECT_EQ(result.summary["error"], "E_SANDBOX_PATH_ESCAPE");
    EXPECT_EQ(result.summary["gate"], "approved");
    EXPECT_EQ(result.text.find("cwd \"../x\" is refused (escape)"), 0U);
    EXPECT_EQ(asked.size(), 1U);
    EXPECT_EQ(start_refused(options(), outside), Errc::sandbox_path_escape);
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(Tool, RunsTheLineByTheSessionsShell) {
    RunShellCommandToolOptions made = options();
    made.output_limit = 77;
    EXPECT_THROW(call(made, json{{"command", "ls | wc"}, {"timeout_seconds", 7}}), ReachedTheSandbox);
    ASSERT_EQ(enforcer_->runs.size(), 1U);
    const InvocationFields& fields = enforcer_->runs[0].fields();
    EXPECT_EQ(fields.program, "/bin/sh");
    EXPECT_EQ(fields.args, (std::vector<std::string>{"-c", "ls | wc"}));
    EXPECT_EQ(fields.timeout, std::chrono::seconds{7});
    EXPECT_EQ(fields.cwd, PathTranslator(::testing::TempDir()).workspace());
    EXPECT_EQ(fields.order, Order::merged);
    EXPECT_EQ(fields.limit->bytes, 77U);
}

TEST_F(Tool, APolicyForTheCallMakesANarrowerSession) {
    ToolContext context;
    context.policy.emplace();
    context.policy->filesystem.deny_read = {"secret"};
    EXPECT_EQ(shell_reached(options(), context), "/narrow/sh");
    ASSERT_EQ(enforcer_->narrowed.size(), 1U);
    EXPECT_EQ(enforcer_->narrowed[0], *context.policy);
    EXPECT_TRUE(enforcer_->runs.empty());
    EXPECT_EQ(kinds(), (Kinds{"narrowed", "warning"}));
    EXPECT_EQ(shell_reached(options()), "/bin/sh") << "the next call is as before";
}

TEST_F(Tool, ARefusedNarrowingIsAnErrorResult) {
    ToolContext context;
    context.policy.emplace();
    for (const Errc code : {Errc::sandbox_narrowing_unsupported, Errc::sandbox_policy_conflict,
                            Errc::invalid_sandbox_config, Errc::sandbox_unsupported_env}) {
        enforcer_->refuse_narrowing = code;
        RunShellCommandToolOptions made = options();
        made.redact["/home/ann/app"] = "<app>";
        const ToolResult result = call(made, json{{"command", "ls"}}, context);
        EXPECT_TRUE(result.is_error);
        EXPECT_EQ(result.summary["error"], code_name(code));
        EXPECT_NE(result.text.find("cannot be applied: no narrowing in <app>"), std::string::npos)
            << result.text;
        EXPECT_EQ(start_refused(options(), json{{"command", "ls"}}, context), code);
    }
    EXPECT_TRUE(enforcer_->runs.empty());
    EXPECT_EQ(kinds(), Kinds(8, "start_failed"));
    enforcer_->refuse_narrowing = Errc::sandbox_not_initialized;
    EXPECT_THROW(call(options(), json{{"command", "ls"}}, context), Error) << "a closed session";
}

TEST_F(Tool, APlaceIsRedactedByTheNameThatItsLinkLeadsTo) {
    namespace fs = std::filesystem;
    const testing::TempTree tree;
    fs::create_directory(tree.path() / "real");
    fs::create_directory_symlink("real", tree.path() / "link");
    enforcer_->refuse_narrowing = Errc::sandbox_policy_conflict;
    ToolContext context;
    context.policy.emplace();
    RunShellCommandToolOptions made = options();
    made.redact[(tree.path() / "link").string()] = "<app>";
    for (const char* name : {"link", "real"}) {
        enforcer_->narrowing_fault = "not in " + (tree.path() / name / "x").string();
        const ToolResult result = call(made, json{{"command", "ls"}}, context);
        EXPECT_NE(result.text.find("not in <app>/x"), std::string::npos) << result.text;
    }
}

TEST_F(Tool, AllowedCommandsAreOneNarrowerSessionForAllCalls) {
    enforcer_->own_policy.filesystem.allow_write = {"."};
    RunShellCommandToolOptions made = options();
    made.allowed_commands = {{"/usr/bin/git"}};
    const RunShellCommandTool tool(made);
    for (int i = 0; i < 3; ++i)
        EXPECT_THROW(testing::run_alone(tool.call(json{{"command", "ls"}})), ReachedTheSandbox);
    ASSERT_EQ(enforcer_->narrowed.size(), 1U);
    const FilesystemPolicy& files = enforcer_->narrowed[0].filesystem;
    EXPECT_TRUE(files.restrict_execute);
    ASSERT_EQ(files.allow_execute.size(), 2U);
    EXPECT_EQ(files.allow_execute[0].path, "/usr/bin/git");
    EXPECT_EQ(files.allow_execute[1].path, "/bin/sh");
    EXPECT_EQ(files.allow_write, enforcer_->own_policy.filesystem.allow_write);
    EXPECT_EQ(kinds(), (Kinds{"narrowed", "warning"}));
    EXPECT_NE(std::get<Narrowed>(events_[0].what).text.find("/usr/bin/git"), std::string::npos);
}

TEST_F(Tool, WhatASessionDoesWithoutIsToldOnceForEach) {
    enforcer_->report.mechanisms = {{"network", Enforced::full, {}, false}, {"ipc", Enforced::none, "weaker", true}};
    const RunShellCommandTool tool(options());
    ToolContext context;
    for (int i = 0; i < 3; ++i)
        EXPECT_THROW(testing::run_alone(tool.call(json{{"command", "ls"}}, context)), ReachedTheSandbox);
    ASSERT_EQ(kinds(), Kinds{"weaker"});
    EXPECT_EQ(std::get<Weaker>(events_[0].what).mechanism, "ipc");
    context.policy.emplace();
    EXPECT_THROW(testing::run_alone(tool.call(json{{"command", "ls"}}, context)), ReachedTheSandbox);
    EXPECT_EQ(kinds(), (Kinds{"weaker", "narrowed", "weaker", "warning"}));
}

TEST_F(Tool, APolicyForTheCallKeepsToTheAllowedCommands) {
    RunShellCommandToolOptions made = options();
    made.allowed_commands = {{"/usr/bin/git"}};
    ToolContext context;
    context.policy.emplace();
    EXPECT_EQ(shell_reached(made, context), "/narrow/sh");
    EXPECT_TRUE(enforcer_->narrowed[0].filesystem.restrict_execute);
    context.policy->filesystem.restrict_execute = true;
    context.policy->filesystem.allow_execute = {"/usr/bin/make"};
    const ToolResult result = call(made, json{{"command", "ls"}}, context);
    EXPECT_EQ(result.summary["error"], "E_SANDBOX_POLICY_CONFLICT");
    EXPECT_NE(result.text.find("/usr/bin/make"), std::string::npos);
}

TEST_F(Tool, AnArtifactOfAnotherCallIsRefused) {
    ToolContext context;
    context.artifact = std::make_shared<SpooledArtifact>();
    EXPECT_EQ(shell_reached(options(), context), "/bin/sh");
    context.artifact->append("x");
    EXPECT_THROW(call(options(), json{{"command", "ls"}}, context), Error);
    EXPECT_EQ(enforcer_->runs.size(), 1U);
}

TEST_F(Tool, AThrowingSinkIsCountedAndTheOthersAreTold) {
    RunShellCommandToolOptions made = options();
    made.on_sandbox = [](const AuditEvent&) { throw 7; };
    ToolContext context;
    context.policy.emplace();
    context.on_sandbox = [this](const AuditEvent& event) { events_.push_back(event); };
    const RunShellCommandTool tool(made);
    EXPECT_THROW(testing::run_alone(tool.call(json{{"command", "ls"}}, context)), ReachedTheSandbox);
    EXPECT_EQ(tool.sink_failures(), 2U);
    EXPECT_EQ(kinds(), (Kinds{"narrowed", "warning"}));
}

TEST_F(Tool, AnEmptyStreamSaysSo) {
    ToolStream stream;
    EXPECT_THROW(testing::run_alone(stream.finish()), Error);
    EXPECT_THROW(stream.stop(), Error);
    EXPECT_EQ(stream.artifact(), nullptr);
    EXPECT_EQ(stream.marker(), "");
    EXPECT_EQ(stream.id(), 0U);
}

}  // namespace
}  // namespace sandpipe
