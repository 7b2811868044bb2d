#pragma once

#include <sandpipe/policy.hpp>

#include <string_view>

namespace sandpipe {

/// Throws `Error` E_INVALID_SANDBOX_CONFIG for a policy that contradicts itself, holds a path that is none,
/// or asks for something that this version does not enforce yet. Runs for every policy, read from JSON or
/// built in C++: `SandboxPolicy::from_json` and `compile` call it. Looks at nothing outside the policy.
void check_supported(const SandboxPolicy& policy);

/// The path of a pattern that `check_supported` accepts. A trailing "/**" (everything below) is the directory
/// itself, because a rule on a directory covers what is below it.
[[nodiscard]] std::string_view plain_path(const PathPattern& pattern) noexcept;

}  // namespace sandpipe
