#pragma once

#include <sandpipe/policy.hpp>

namespace sandpipe {

/// Throws `Error` E_INVALID_SANDBOX_CONFIG for a policy that contradicts itself, holds a path that is none,
/// or asks for something that this version does not enforce yet. Runs for every policy, read from JSON or
/// built in C++: `SandboxPolicy::from_json` and `compile` call it. Looks at nothing outside the policy.
void check_supported(const SandboxPolicy& policy);

}  // namespace sandpipe
