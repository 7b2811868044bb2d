#pragma once

#include <sandpipe/explain.hpp>

#include <string_view>

#include "sandbox/policy/compile.hpp"
#include "sandbox/session_view.hpp"

namespace sandpipe {

/// What a session made from `compiled` says to `act` (not connect) on an absolute path: to each directory that the
/// walk goes through, and to the place where it ends. Pure.
[[nodiscard]] Explanation explain_place(const CompiledPolicy& compiled, ExplainedAct act, std::string_view absolute,
                                        const SessionView& view);

/// The denial of a walk that came no further; nothing else may be asked about it.
[[nodiscard]] Explanation explain_blocked(const CompiledPolicy& compiled, const SessionWalk& walk,
                                          const SessionView& view);

}  // namespace sandpipe
