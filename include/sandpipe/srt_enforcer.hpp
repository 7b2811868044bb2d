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
    std::string bin_shell = "/bin/bash";        ///< absolute; sh, bash, dash, zsh or ksh
    /// Go on without what only this machine refuses, each named in the report and by a Warning of each stream. Never
    /// without "no network", denied reads and the end of the whole tree: then there is no session.
    bool enable_weaker_nested_sandbox = false;
    /// Variables that commands get from the Runtime's snapshot of the host's; one that is not set there is not set for
    /// them. What the sandbox needs (TMPDIR, git's safe.directory) is laid over them, the invocation's own over that.
    std::vector<std::string> env_allow_list{"PATH"};
    bool inherit_host_env = false;  ///< all of the host's instead
    SandboxPolicy policy;
    std::string workspace;  ///< absolute, or relative to the host's cwd, which is also the default
};

/// A sandbox session: one cell of namespaces, made once, in which any number of commands run. Thread-safe.
///
/// `wrap` gives an invocation that any executor on this machine can run. Its program and args are those of an
/// entering relay with a ticket: started within 60 s by a process of the same user, once, the relay passes its
/// descriptors 0 to 2 into the session, where the command runs with the environment and the cwd of the wrapped
/// invocation. Signals that the relay gets go to the command: TERM, INT, HUP and QUIT to all of its processes, others
/// to its first. The relay ends as the command does, by the same exit status or signal; killing it kills the
/// command's whole tree, and it ends with 122 when the host goes away, with 125 and a text when its ticket is
/// refused. With the executors of this library no relay runs: they take the invocation's `session`, and the ticket is
/// void. One that nobody uses keeps the Runtime's context at work until it expires or the session closes. Throws
/// `Error`: E_SANDBOX_NOT_INITIALIZED after close, E_SANDBOX_POLICY_CONFLICT for an invocation of another session,
/// E_INVALID_SANDBOX_CONFIG for a wrong one.
class SandboxEnforcer : public BinarySandbox {
  public:
    /// Starts a command in the session; returns once it has STARTED or failed to (then the stream has only
    /// its `Finished`). Otherwise as `start_command`, with E_SANDBOX_POLICY_CONFLICT as `wrap`.
    virtual awaitable<CommandStream> run(BinaryInvocation invocation) = 0;
    /// `line` by bin_shell -c. NUL in it is an error of the run.
    [[nodiscard]] virtual BinaryInvocation shell(std::string line) const = 0;
    /// A session of its own with the same options, under a policy that can only be narrower: what both policies allow
    /// is allowed, and what `policy` grants beyond this session's throws `Error` E_SANDBOX_POLICY_CONFLICT naming it.
    /// The list of a kind of grant replaces this session's: a policy without allowWrite can write nowhere. It has a
    /// /tmp of its own, and outlives this session. What commands of this session have made or exchanged meanwhile does
    /// not widen it: a path is granted for what it leads to at the start of the narrower session, where this one has it,
    /// and else not, with a warning; `~` is HOME as the Runtime has it.
    virtual awaitable<std::shared_ptr<SandboxEnforcer>> narrow(SandboxPolicy policy) = 0;
    /// The session's own policy, as it was given.
    [[nodiscard]] virtual const SandboxPolicy& policy() const = 0;
    [[nodiscard]] virtual const EnforcementReport& enforcement() const = 0;
    /// What the user should know about this policy on this machine, such as second links to protected files.
    [[nodiscard]] virtual const std::vector<std::string>& warnings() const = 0;
    /// Ends the session's commands and the session, otherwise as `Runtime::close`.
    virtual awaitable<void> close() = 0;
};

/// Makes a session. What the policy names is looked at, and directories are searched (globs, the always denied names:
/// some 0.2 s for 100,000 files), on a thread of its own, on the caller's where there can be no more threads. That, and
/// then the session's start, may take 30 s each, else E_SANDBOX_FAILED: a file system hangs. Cancellation throws
/// operation_aborted at once; what was being looked at is looked at to its end, for nobody, and a session that was
/// being started ends. Throws `Error`: E_INVALID_SANDBOX_CONFIG for a wrong option or policy, E_SANDBOX_UNSUPPORTED_ENV
/// where this machine cannot enforce the policy, E_SANDBOX_FAILED where a step failed.
awaitable<std::shared_ptr<SandboxEnforcer>> srt_enforcer(Runtime& runtime, SrtEnforcerOptions options);

}  // namespace sandpipe
