#pragma once

#include <sandpipe/audit.hpp>
#include <sandpipe/binary_executor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sandpipe {

struct SandboxedExecutorOptions {
    std::shared_ptr<BinaryExecutor> inner;   ///< runs what the sandbox has wrapped; required
    std::shared_ptr<BinarySandbox> sandbox;  ///< required
    /// Asked before each command with its program as it was given, nothing else: true lets it run OUTSIDE of the
    /// sandbox. Empty: nothing does. A known interpreter (python3, sh, env, ...) runs whatever its arguments say, so
    /// a bypass for one is a bypass for everything.
    std::function<bool(const std::string& program)> bypass;
    /// Gets the audit events of each command. Empty: nobody is told.
    AuditSink on_sandbox;
};

class SandboxedExecutor : public BinaryExecutor {
  public:
    /// How many calls of `on_sandbox` threw, and were ignored.
    [[nodiscard]] virtual std::uint64_t sink_failures() const noexcept = 0;
};

/// An executor whose commands run in `sandbox`: each invocation is wrapped and given to `inner`, whose settled result
/// comes back unchanged. So code that takes a BinaryExecutor is sandboxed, or not, by the one line that makes its
/// executor.
///
/// A bypass is told to `on_sandbox` (and to `inner`'s log) BEFORE the command goes to `inner` unwrapped. Where the
/// predicate or that call throws a std::exception, nothing starts: NotStarted with stage `wrap` and
/// E_SANDBOX_REFUSED. Any other call of `on_sandbox` that throws is counted and ignored. With a sandbox of this
/// library its denials are told too; all events of a command are told before its result. Predicate and sink run on
/// the awaiting coroutine's executor.
///
/// What `wrap` throws is thrown on, after a StartFailed event. `start_timeout` covers wrap and start: NotStarted with
/// stage `wrap` if it passes meanwhile. Cancellation while wrap waits starts nothing, ever: cause `cancelled`. In
/// both cases wrap itself is cancelled, and waited for at most 2 s longer.
///
/// Throws `Error` E_INVALID_SANDBOX_CONFIG where `inner` or `sandbox` is missing. Thread-safe if those are.
[[nodiscard]] std::shared_ptr<SandboxedExecutor> sandboxed_executor(SandboxedExecutorOptions options);

}  // namespace sandpipe
