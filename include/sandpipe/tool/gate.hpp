#pragma once

#include <sandpipe/awaitable.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <variant>

namespace sandpipe {

/// What a model asks a tool to do, checked for its form and not yet for its meaning.
struct ToolRequest {
    std::string tool;     ///< run_shell_command
    std::string command;  ///< the line for the shell, as given
    std::string cwd;      ///< as given: relative to the workspace
    std::chrono::seconds timeout{};
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

/// Decides about every request before anything else happens. It runs on the caller's executor and may wait as
/// long as it likes; its own timeout is its own affair. What it throws passes through the tool's call, and
/// nothing runs.
using Gate = std::function<awaitable<GateDecision>(const ToolRequest&)>;

}  // namespace sandpipe
