#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

namespace sandpipe {

/// What a model asks a tool to do, checked for its form and not yet for its meaning.
struct ToolRequest {
    std::string tool;     ///< run_shell_command
    std::string command;  ///< the line for the shell, as given
    std::string cwd;      ///< as given: relative to the workspace
    std::chrono::seconds timeout{};
    std::string call_id;  ///< `ToolContext::call_id`: the host's own name for this call; may be empty
};

/// Somebody said no. `note`: their own words for the model; may be empty.
struct Declined {
    std::string note;
};
/// Nobody answered in time.
struct GateTimedOut {};
/// Whoever asked has gone, or the question was withdrawn.
struct GateAborted {};
struct Approved {};

/// Only `Approved` runs anything; a default-made decision declines.
using GateDecision = std::variant<Declined, GateTimedOut, GateAborted, Approved>;

/// "declined", "timed_out", "aborted", "approved": what `gate` says in a summary.
[[nodiscard]] std::string_view to_string(const GateDecision& decision) noexcept;

}  // namespace sandpipe
