#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/invocation.hpp>
#include <sandpipe/result.hpp>

#include <asio/system_executor.hpp>

#include <string>

namespace sandpipe {

/// Which file system an executor's commands see: two executors share paths when their domains are equal.
struct PathDomain {
    std::string id = "host";
    friend bool operator==(const PathDomain&, const PathDomain&) = default;
};

struct LogRecord;

/// Runs one program to its settled result. Implementations are thread-safe.
class BinaryExecutor {
  public:
    virtual ~BinaryExecutor() = default;

    /// Runs `invocation` and returns how it ended; a failing program and a refused start are results, not
    /// exceptions. Throws `Error` for a wrong invocation, before anything starts.
    /// Cancellation: before the start nothing runs; afterwards every type starts the stop policy, a second
    /// one goes to SIGKILL at once, and the result comes with cause `cancelled` and the partial output.
    virtual awaitable<BinaryExecResult> exec(BinaryInvocation invocation) = 0;

    [[nodiscard]] virtual PathDomain path_domain() const { return {}; }

    /// Logs what is done around this executor, as a bypass: a local executor to its Runtime's logger, others to the
    /// spdlog logger registered as "sandpipe".
    virtual void log(const LogRecord& record) const;

    /// Where `async_exec` runs for a token that brings no executor: that of the Runtime for a local executor, else
    /// Asio's system executor.
    [[nodiscard]] virtual asio::any_io_executor default_executor() const { return asio::system_executor(); }
};

/// Turns an invocation into one that runs contained. The step may wait (for a gate, a mount, a remote host).
/// Implementations are thread-safe.
class BinarySandbox {
  public:
    virtual ~BinarySandbox() = default;
    /// Gives back an invocation that any executor on this machine can run: its `fields()` say all, and their `session`
    /// is carried along. What it throws reaches whoever wanted to run the command; nothing has started then. It should
    /// answer cancellation, and runs nothing itself.
    virtual awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) = 0;

    /// The paths that a wrapped command sees when an executor with `inner` runs it. Default: the same.
    [[nodiscard]] virtual PathDomain path_domain(PathDomain inner) const { return inner; }
};

}  // namespace sandpipe
