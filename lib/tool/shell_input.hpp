#pragma once

#include <sandpipe/tool/gate_decision.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sandpipe::tool {

inline constexpr const char* kToolName = "run_shell_command";

/// Checks a model's input. Closed: throws `Error` E_INVALID_SANDBOX_CONFIG naming the field that is missing,
/// wrong or not known, its value, and what is accepted. Pure.
[[nodiscard]] ToolRequest parse_shell_input(const nlohmann::json& input);

/// The JSON schema that says the same.
[[nodiscard]] nlohmann::json shell_input_schema();

/// What a model is told about the tool.
[[nodiscard]] std::string shell_description();

}  // namespace sandpipe::tool
