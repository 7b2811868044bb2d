#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/tool/gate.hpp>
#include <sandpipe/tool/path_translator.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace sandpipe {

struct RunShellCommandToolOptions {
    std::shared_ptr<SandboxEnforcer> enforcer;  ///< the session that commands run in; required
    Gate gate;                                  ///< required
    std::string workspace;                      ///< the enforcer's; required
    std::size_t text_limit = 30'000;            ///< bytes of output in `ToolResult::text`; at least 1000
};

/// What a model gets back.
struct ToolResult {
    bool is_error = false;  ///< the command did not run, or did not finish with 0
    std::string text;  ///< UTF-8: the output with markers in their places, bounded, and a sentence on the end
    nlohmann::json summary;  ///< the same facts as fields
};

/// The tool run_shell_command: runs a model's shell line in a sandbox session, behind a gate. Thread-safe.
class RunShellCommandTool {
  public:
    /// Throws `Error`: E_SANDBOX_GATE_REQUIRED without a gate, E_INVALID_SANDBOX_CONFIG for anything else
    /// missing.
    explicit RunShellCommandTool(RunShellCommandToolOptions options);

    /// `input`: {"command": "...", "cwd": "", "timeout_seconds": 300}; the last two may be absent. In this
    /// order: the input is checked, the gate asked, cwd translated, the command run to its end. Everything
    /// that a model can cause is a result; a closed session and what the gate throws are exceptions.
    /// Cancellation: before the start nothing runs; afterwards the command is stopped and operation_aborted
    /// thrown.
    awaitable<ToolResult> call(nlohmann::json input) const;

    /// The JSON schema of `input`.
    [[nodiscard]] static nlohmann::json input_schema();

  private:
    std::shared_ptr<SandboxEnforcer> enforcer_;
    Gate gate_;
    PathTranslator paths_;
    std::size_t text_limit_;
};

}  // namespace sandpipe
