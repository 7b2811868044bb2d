#pragma once

#include <sandpipe/binary_executor.hpp>
#include <sandpipe/command_stream.hpp>
#include <sandpipe/enforcement_report.hpp>
#include <sandpipe/policy.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sandpipe {

struct SrtEnforcerOptions {
    std::string bin_shell = "/bin/bash";              ///< absolute; sh, bash, dash, zsh or ksh
    bool enable_weaker_nested_sandbox = false;        ///< give up, by name, what only this machine refuses
    std::vector<std::string> env_allow_list{"PATH"};  ///< variables of the host that commands get
    bool inherit_host_env = false;                    ///< all of them instead
    SandboxPolicy policy;
    std::string workspace;  ///< absolute, or relative to the host's cwd, which is also the default
};

/// A sandbox session: one cell of namespaces, made once, in which any number of commands run. Thread-safe.
class SandboxEnforcer : public BinarySandbox {
  public:
    /// Starts a command in the session; returns once it has STARTED or failed to (then the stream has only
    /// its `Finished`). Otherwise as `start_command`.
    virtual awaitable<CommandStream> run(BinaryInvocation invocation) = 0;
    /// `line` by bin_shell -c. NUL in it is an error of the run.
    [[nodiscard]] virtual BinaryInvocation shell(std::string line) const = 0;
    /// A session of its own, under a policy that can only be narrower.
    virtual awaitable<std::shared_ptr<SandboxEnforcer>> narrow(SandboxPolicy policy) = 0;
    /// The session's own policy, as it was given.
    [[nodiscard]] virtual const SandboxPolicy& policy() const = 0;
    [[nodiscard]] virtual const EnforcementReport& enforcement() const = 0;
    /// What the user should know about this policy on this machine, such as second links to protected files.
    [[nodiscard]] virtual const std::vector<std::string>& warnings() const = 0;
    /// Ends the session's commands and the session. A second call returns at once.
    virtual awaitable<void> close() = 0;
};

/// Makes a session. Throws `Error`: E_INVALID_SANDBOX_CONFIG for a wrong option or policy,
/// E_SANDBOX_UNSUPPORTED_ENV where this machine cannot enforce the policy, E_SANDBOX_FAILED where a step
/// failed.
awaitable<std::shared_ptr<SandboxEnforcer>> srt_enforcer(Runtime& runtime, SrtEnforcerOptions options);

}  // namespace sandpipe
