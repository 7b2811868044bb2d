#pragma once

#include <sandpipe/policy.hpp>

#include <string>

namespace sandpipe {

/// What a session's policy became by `narrow`, key by key, for whoever answers for it. Pure.
[[nodiscard]] std::string describe_narrowing(const SandboxPolicy& before, const SandboxPolicy& after);

}  // namespace sandpipe
