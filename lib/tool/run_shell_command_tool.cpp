#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <sandpipe/error.hpp>

#include <optional>
#include <utility>
#include <variant>

#include "narrator.hpp"
#include "shell_input.hpp"
#include "transcript.hpp"

namespace sandpipe {
namespace {

constexpr std::size_t kSmallestText = 1000;

RunShellCommandToolOptions checked(RunShellCommandToolOptions options) {
    if (!options.gate) {
        throw Error(Errc::sandbox_gate_required,
                    "run_shell_command needs a gate; one that approves everything is a choice");
    }
    if (!options.enforcer) throw Error(Errc::invalid_sandbox_config, "run_shell_command needs an enforcer");
    if (options.text_limit < kSmallestText) {
        throw Error(Errc::invalid_sandbox_config,
                    "text_limit must be at least 1000 bytes, not " + std::to_string(options.text_limit));
    }
    return options;
}

// Either what was asked for, or the answer to a wrong question.
std::variant<ToolRequest, ToolResult> checked_request(const nlohmann::json& input) {
    try {
        return tool::parse_shell_input(input);
    } catch (const Error& error) {
        return tool::nothing_ran(error.name(), error.text());
    }
}

std::variant<std::string, ToolResult> checked_cwd(const PathTranslator& paths, const std::string& cwd) {
    try {
        return paths.to_host(cwd);
    } catch (const Error& error) {
        if (error.errc() != Errc::sandbox_path_escape) throw;
        return tool::nothing_ran(error.name(), "cwd " + error.text());
    }
}

awaitable<ToolResult> run(std::shared_ptr<SandboxEnforcer> enforcer, BinaryInvocation invocation,
                          std::size_t limit) {
    CommandStream stream = co_await enforcer->run(std::move(invocation));
    tool::Transcript transcript(std::string(stream.marker()), limit);
    while (const std::optional<OutputEvent> event = co_await stream.next()) transcript.take(*event);
    co_return transcript.result();
}

}  // namespace

RunShellCommandTool::RunShellCommandTool(RunShellCommandToolOptions options)
    : enforcer_(checked(options).enforcer),
      gate_(std::move(options.gate)),
      paths_(options.workspace),
      text_limit_(options.text_limit) {}

awaitable<ToolResult> RunShellCommandTool::call(nlohmann::json input) const {
    auto request = checked_request(input);
    if (auto* refusal = std::get_if<ToolResult>(&request)) co_return std::move(*refusal);
    const auto& asked = std::get<ToolRequest>(request);
    const GateDecision decision = co_await gate_(asked);
    if (!std::holds_alternative<Approved>(decision)) {
        co_return tool::nothing_ran(code_name(Errc::sandbox_refused), tool::narrate(decision));
    }
    auto cwd = checked_cwd(paths_, asked.cwd);
    if (auto* refusal = std::get_if<ToolResult>(&cwd)) co_return std::move(*refusal);
    BinaryInvocation invocation = enforcer_->shell(asked.command);
    invocation.cwd(std::get<std::string>(cwd)).timeout(asked.timeout);
    co_return co_await run(enforcer_, std::move(invocation), text_limit_);
}

nlohmann::json RunShellCommandTool::input_schema() { return tool::shell_input_schema(); }

}  // namespace sandpipe
