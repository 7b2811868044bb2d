#pragma once

#include <string>

#include "sandbox/policy/compile.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe {

/// Whether a session made from `wider` has what a grant of this kind would give at `place`. A narrower one is held to
/// that when its own plan is made: whatever its paths lead to by then, commands of the wider session may have seen to
/// it. Pure.
[[nodiscard]] bool has_grant(const CompiledPolicy& wider, wire::Access access, const std::string& place);

}  // namespace sandpipe
