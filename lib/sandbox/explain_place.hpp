#pragma once

#include <sandpipe/explain.hpp>

#include "compile.hpp"
#include "resolved_path.hpp"

namespace sandpipe {

/// What a session made from `compiled` says to `act` (not connect) at a place of the host. Pure.
[[nodiscard]] Explanation explain_place(const CompiledPolicy& compiled, ExplainedAct act,
                                        const ResolvedPath& path);

}  // namespace sandpipe
