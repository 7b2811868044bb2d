#pragma once

#include <sandpipe/policy.hpp>

#include <string>

namespace sandpipe {

/// The policy that allows what both `wide` and `asked` allow, in one workspace. What `asked` grants beyond `wide` is
/// no mistake that could be passed over: throws `Error` E_SANDBOX_POLICY_CONFLICT naming the entry and what stands
/// against it. Reads the file system as it is now, as compile does. `bin_shell`: as in SrtEnforcerOptions.
[[nodiscard]] SandboxPolicy narrow_policy(const SandboxPolicy& wide, const SandboxPolicy& asked,
                                          const std::string& workspace, const std::string& bin_shell);

}  // namespace sandpipe
