#pragma once

#include <sandpipe/audit.hpp>
#include <sandpipe/awaitable.hpp>
#include <sandpipe/invocation.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/tool/gate.hpp>
#include <sandpipe/tool/tool_context.hpp>
#include <sandpipe/tool/tool_result.hpp>
#include <sandpipe/tool/tool_stream.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sandpipe {

namespace tool {
class ToolCore;
}

struct RunShellCommandToolOptions {
    std::shared_ptr<SandboxEnforcer> enforcer;  ///< the session that commands run in; required
    Gate gate;                                  ///< required
    /// How long the gate may take; when it passes, the tool answers timed_out itself. Absent: as long as it
    /// likes. Must be positive.
    std::optional<std::chrono::nanoseconds> gate_timeout;
    std::string workspace;  ///< what cwd is relative to; default the session's
    /// The only programs that may be executed: absolute paths, or names that are looked up in the host's PATH
    /// when the tool is made. They become `allowExecute`, together with the session's shell: its builtins,
    /// scripts and the arguments of allowed programs are not restricted. Commands then run in a narrower
    /// session, made by the first call. Absent: what the session's policy says; empty: the shell alone.
    std::optional<std::vector<std::string>> allowed_commands;
    AuditSink on_sandbox;             ///< audit events of all calls
    std::size_t text_limit = 30'000;  ///< bytes of output in `ToolResult::text`; at least 1000
    std::uint64_t output_limit = 0;   ///< bytes of output that end a command; 0: none
    SpoolOptions spool;               ///< for the artifacts
    /// `merged`: the order of stdout and stderr is exact. `tagged`: a stream's chunks say which it was.
    Order order = Order::merged;
    /// Further places of the host to be redacted, and what is shown for them. The workspace, the home and the
    /// host's TMPDIR always are.
    std::map<std::string, std::string> redact;
};

/// The tool run_shell_command: runs a model's shell line in a sandbox session, behind a gate. Thread-safe;
/// calls may outlive it.
///
/// Input: {"command": "...", "cwd": "", "timeout_seconds": 300}; the last two may be absent. In this order
/// the input is checked, the gate asked, cwd translated, the policy narrowed, and the command started by the
/// session's shell.
class RunShellCommandTool {
  public:
    /// Throws `Error`: E_SANDBOX_GATE_REQUIRED without a gate, E_INVALID_SANDBOX_CONFIG for anything else
    /// that is missing or wrong, naming it.
    explicit RunShellCommandTool(RunShellCommandToolOptions options);

    /// Runs to the end. Everything that a model can cause, the gate can say and narrowing can refuse is a
    /// result; a closed session, a wrong artifact in `context`, and what the gate throws are exceptions.
    /// Cancellation: before the start nothing runs, and the result says so; afterwards the command is stopped
    /// (a second one kills it), and the result comes with cause `cancelled` and the output so far.
    awaitable<ToolResult> call(nlohmann::json input, ToolContext context) const;
    /// Overloads, because g++ 12 mishandles such default arguments inside a co_await expression.
    awaitable<ToolResult> call(nlohmann::json input) const;

    /// Completes once the command has started or failed to; a failed start is a stream whose only event is
    /// `Finished`. Throws `Error` for a call that runs nothing: E_INVALID_SANDBOX_CONFIG for wrong input,
    /// E_SANDBOX_REFUSED where the gate did not approve, E_SANDBOX_PATH_ESCAPE for cwd, and what narrowing
    /// refuses. Cancellation ends what was begun and throws operation_aborted.
    awaitable<ToolStream> start(nlohmann::json input, ToolContext context) const;
    awaitable<ToolStream> start(nlohmann::json input) const;

    /// What sinks threw so far, and was ignored.
    [[nodiscard]] std::uint64_t sink_failures() const noexcept;

    static constexpr const char* kName = "run_shell_command";
    /// The JSON Schema of the input.
    [[nodiscard]] static nlohmann::json input_schema();
    /// What a model is told about the tool.
    [[nodiscard]] static std::string description();
    /// An entry of `tools` for OpenAI's Chat Completions.
    [[nodiscard]] static nlohmann::json openai_definition();
    /// An entry of `tools` for OpenAI's Responses.
    [[nodiscard]] static nlohmann::json openai_responses_definition();
    /// An entry of `tools` for Anthropic's Messages.
    [[nodiscard]] static nlohmann::json anthropic_definition();
    /// An entry of an MCP server's answer to tools/list.
    [[nodiscard]] static nlohmann::json mcp_definition();

  private:
    std::shared_ptr<const tool::ToolCore> core_;
};

}  // namespace sandpipe
