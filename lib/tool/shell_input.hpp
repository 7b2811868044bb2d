#pragma once

#include <sandpipe/tool/gate.hpp>

#include <nlohmann/json_fwd.hpp>

namespace sandpipe::tool {

inline constexpr const char* kToolName = "run_shell_command";

/// Checks a model's input. Closed: throws `Error` E_INVALID_SANDBOX_CONFIG naming the field that is missing,
/// wrong or not known, and what is accepted. Pure.
[[nodiscard]] ToolRequest parse_shell_input(const nlohmann::json& input);

/// The JSON schema that says the same.
[[nodiscard]] nlohmann::json shell_input_schema();

}  // namespace sandpipe::tool
