#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sandpipe {
namespace {

using nlohmann::json;

struct ReachedTheSandbox : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Notes what it is asked to run and runs nothing: a stream needs a process.
class FakeEnforcer final : public SandboxEnforcer {
  public:
    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override { co_return invocation; }
    awaitable<CommandStream> run(BinaryInvocation invocation) override {
        runs.push_back(std::move(invocation));
        throw ReachedTheSandbox("run");
        co_return CommandStream(nullptr);
    }
    [[nodiscard]] BinaryInvocation shell(std::string line) const override {
        return command("/bin/sh").args("-c", std::move(line));
    }
    awaitable<std::shared_ptr<SandboxEnforcer>> narrow(SandboxPolicy) override { co_return nullptr; }
    [[nodiscard]] const EnforcementReport& enforcement() const override { return report_; }
    [[nodiscard]] const std::vector<std::string>& warnings() const override { return warnings_; }
    awaitable<void> close() override { co_return; }

    std::vector<BinaryInvocation> runs;

  private:
    EnforcementReport report_;
    std::vector<std::string> warnings_;
};

Gate answers(GateDecision decision, std::vector<ToolRequest>* asked = nullptr) {
    return [decision, asked](const ToolRequest& request) -> awaitable<GateDecision> {
        if (asked) asked->push_back(request);
        return [](GateDecision made) -> awaitable<GateDecision> { co_return made; }(decision);
    };
}

class Tool : public ::testing::Test {
  protected:
    RunShellCommandToolOptions options(Gate gate) {
        RunShellCommandToolOptions made;
        made.enforcer = enforcer_;
        made.gate = std::move(gate);
        made.workspace = ::testing::TempDir();
        return made;
    }

    ToolResult call(Gate gate, json input) {
        const RunShellCommandTool tool(options(std::move(gate)));
        asio::io_context context;
        std::exception_ptr failure;
        ToolResult result;
        asio::co_spawn(context, tool.call(std::move(input)), [&](std::exception_ptr error, ToolResult made) {
            failure = error;
            result = std::move(made);
        });
        context.run();
        if (failure) std::rethrow_exception(failure);
        return result;
    }

    static std::optional<Errc> refused(const RunShellCommandToolOptions& wrong) {
        try {
            const RunShellCommandTool tool(wrong);
        } catch (const Error& error) {
            return error.errc();
        }
        return {};
    }

    std::shared_ptr<FakeEnforcer> enforcer_ = std::make_shared<FakeEnforcer>();
};

TEST_F(Tool, NeedsAGateAndAnEnforcer) {
    EXPECT_EQ(refused(options(nullptr)), Errc::sandbox_gate_required);
    EXPECT_EQ(refused(options(answers(Approved{}))), std::nullopt);
    RunShellCommandToolOptions without = options(answers(Approved{}));
    without.enforcer = nullptr;
    EXPECT_EQ(refused(without), Errc::invalid_sandbox_config);
    RunShellCommandToolOptions small = options(answers(Approved{}));
    small.text_limit = 999;
    EXPECT_EQ(refused(small), Errc::invalid_sandbox_config);
    RunShellCommandToolOptions nowhere = options(answers(Approved{}));
    nowhere.workspace = "";
    EXPECT_EQ(refused(nowhere), Errc::invalid_sandbox_config);
}

TEST_F(Tool, WrongInputAsksNobody) {
    std::vector<ToolRequest> asked;
    const ToolResult result =
        call(answers(Approved{}, &asked), json{{"command", "x"}, {"timeout_seconds", 0}});
    EXPECT_TRUE(result.is_error);
    EXPECT_NE(result.text.find("timeout_seconds"), std::string::npos);
    EXPECT_EQ(result.summary["error"], "E_INVALID_SANDBOX_CONFIG");
    EXPECT_TRUE(asked.empty());
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(Tool, TheGateSeesTheRequest) {
    std::vector<ToolRequest> asked;
    static_cast<void>(
        call(answers(Declined{}, &asked), json{{"command", "ls"}, {"cwd", "src"}, {"timeout_seconds", 5}}));
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].tool, "run_shell_command");
    EXPECT_EQ(asked[0].command, "ls");
    EXPECT_EQ(asked[0].cwd, "src");
    EXPECT_EQ(asked[0].timeout, std::chrono::seconds{5});
}

TEST_F(Tool, OnlyAnApprovalRuns) {
    for (const GateDecision& decision : {GateDecision(Declined{"why not"}), GateDecision(GateTimedOut{}),
                                         GateDecision(GateAborted{}), GateDecision{}}) {
        const ToolResult result = call(answers(decision), json{{"command", "ls"}});
        EXPECT_TRUE(result.is_error);
        EXPECT_EQ(result.summary["error"], "E_SANDBOX_REFUSED");
        EXPECT_TRUE(enforcer_->runs.empty());
    }
    EXPECT_THROW(call(answers(Approved{}), json{{"command", "ls"}}), ReachedTheSandbox);
    EXPECT_EQ(enforcer_->runs.size(), 1U);
}

TEST_F(Tool, AThrowingGateRunsNothing) {
    const Gate broken = [](const ToolRequest&) -> awaitable<GateDecision> { throw std::logic_error("gate"); };
    EXPECT_THROW(call(broken, json{{"command", "ls"}}), std::logic_error);
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(Tool, ACwdOutsideIsRefusedAfterTheGate) {
    std::vector<ToolRequest> asked;
    const ToolResult result = call(answers(Approved{}, &asked), json{{"command", "ls"}, {"cwd", "../x"}});
    EXPECT_EQ(result.summary["error"], "E_SANDBOX_PATH_ESCAPE");
    EXPECT_EQ(result.text.find("cwd \"../x\" is refused (escape)"), 0U);
    EXPECT_EQ(asked.size(), 1U);
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(Tool, RunsTheLineByTheSessionsShell) {
    EXPECT_THROW(call(answers(Approved{}), json{{"command", "ls | wc"}, {"timeout_seconds", 7}}),
                 ReachedTheSandbox);
    ASSERT_EQ(enforcer_->runs.size(), 1U);
    const InvocationFields& fields = enforcer_->runs[0].fields();
    EXPECT_EQ(fields.program, "/bin/sh");
    EXPECT_EQ(fields.args, (std::vector<std::string>{"-c", "ls | wc"}));
    EXPECT_EQ(fields.timeout, std::chrono::seconds{7});
    EXPECT_EQ(fields.cwd, PathTranslator(::testing::TempDir()).workspace());
}

}  // namespace
}  // namespace sandpipe
