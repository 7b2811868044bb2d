#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/tool/gate_decision.hpp>

#include <functional>

namespace sandpipe {

/// Decides about every request before anything else happens. It runs as a coroutine of its own on the calling
/// coroutine's executor and may wait as long as it likes, or as `RunShellCommandToolOptions::gate_timeout`
/// says. When that passes, or the call is cancelled, the gate is cancelled (terminal) and its answer no
/// longer looked at; one that ignores its cancellation delays nobody. The request lives as long as the gate
/// runs. What it throws passes through the tool's call, and nothing runs. Called from any thread that calls
/// the tool.
using Gate = std::function<awaitable<GateDecision>(const ToolRequest&)>;

}  // namespace sandpipe
