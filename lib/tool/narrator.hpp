#pragma once

#include <sandpipe/result.hpp>
#include <sandpipe/tool/gate.hpp>

#include <string>

namespace sandpipe::tool {

/// How a command ended, as sentences that a model can act on: what happened, and what to do differently.
/// Pure.
[[nodiscard]] std::string narrate(const CommandResult& result);

/// Why nothing ran; "" for `Approved`.
[[nodiscard]] std::string narrate(const GateDecision& decision);

}  // namespace sandpipe::tool
