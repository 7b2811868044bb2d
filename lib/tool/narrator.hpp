#pragma once

#include <sandpipe/result.hpp>
#include <sandpipe/tool/gate_decision.hpp>

#include <cstdint>
#include <string>

namespace sandpipe::tool {

/// How a command ended, as sentences that a model can act on: what happened, and what to do differently.
/// Pure.
[[nodiscard]] std::string narrate(const CommandResult& result);

/// Why nothing ran; "" for `Approved`.
[[nodiscard]] std::string narrate(const GateDecision& decision);

/// Calls that were refused, known probes apart, folded ones too.
[[nodiscard]] std::uint64_t count_denials(const CommandResult& result) noexcept;

}  // namespace sandpipe::tool
