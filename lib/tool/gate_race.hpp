#pragma once

#include <sandpipe/tool/gate.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace sandpipe::tool {

/// Asks the gate, and waits for its answer, for `timeout` (then GateTimedOut), or for the caller's
/// cancellation (then operation_aborted is thrown), whichever is first. The gate is cancelled in both of the
/// latter cases and not waited for; `gate` and the request live until it has ended. What it throws is thrown.
awaitable<GateDecision> ask_gate(std::shared_ptr<const Gate> gate, ToolRequest request,
                                 std::optional<std::chrono::nanoseconds> timeout);

}  // namespace sandpipe::tool
