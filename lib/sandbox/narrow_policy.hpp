#pragma once

#include <sandpipe/policy.hpp>

#include <string>

#include "sandbox/policy/compile.hpp"

namespace sandpipe {

/// A session that narrower ones are made from.
struct WideSession {
    const SandboxPolicy& policy;
    const CompiledPolicy& compiled;  ///< as the session was made from it
    std::string home;                ///< what "~" meant then
    std::string bin_shell;
};

/// The policy that allows what both `wide` and `asked` allow. What `asked` grants beyond `wide` is no mistake that
/// could be passed over: throws `Error` E_SANDBOX_POLICY_CONFLICT naming the entry and what stands against it. Where
/// its paths lead is looked up as it is now; commands of the wide session may change that before the policy is
/// compiled, so compile() gets the wide session as well.
[[nodiscard]] SandboxPolicy narrow_policy(const WideSession& wide, const SandboxPolicy& asked);

}  // namespace sandpipe
