#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/error.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sandpipe {

namespace detail {
class RuntimeCore;
}

/// Severity of a `LogRecord`, as in spdlog.
enum class LogLevel { debug, info, warning, error };

/// One line of the library's log: starts, exits, escalations, losses, denials. Never output, never values of
/// the environment.
struct LogRecord {
    LogLevel level = LogLevel::info;
    std::uint64_t command_id = 0;  ///< 0 where it is about no single command
    std::string_view text;         ///< one line, escaped where a command chose it; valid during the call
};

struct RuntimeOptions {
    /// Helper processes; commands and sessions are dealt out among them in turn. 1 to 64.
    unsigned launchers = 1;
    /// Commands that may run at once; more wait in a fair queue. 0: no limit.
    std::size_t max_running = 0;
    /// Where log records go. Empty: to the spdlog logger registered as "sandpipe", if there is one; nothing is logged
    /// otherwise. Called on the thread where it happened. What it throws is caught, and told to that logger of spdlog.
    std::function<void(const LogRecord&)> logger;
    /// The installed launcher to use instead of the embedded one. Empty: the embedded one, and the installed
    /// copy where that cannot be started.
    std::filesystem::path launcher_path;
};

/// Owns the helper processes that start and reap every command. Thread-safe. The helper is started by the
/// first command, not by the constructor.
///
/// The destructor does not block and does not throw: commands that still run are killed with everything below
/// them, within 1 s, as they are when the host process ends in any way, SIGKILL included; who awaits one of
/// them gets cause `lost`. It may outlive the executor's context, and the context may be destroyed with
/// commands running: they are ended in the same way.
///
/// The helper is no child of the host, whose SIGCHLD and waitpid(-1) meet nothing of this library; but in a host that
/// adopts orphans, as pid 1 or by PR_SET_CHILD_SUBREAPER (prctl(2)), the kernel makes it one. There `close` reaps it,
/// and what a destructor has left is reaped when the next helper starts or ends.
class Runtime {
  public:
    /// `executor` is where the library's own I/O runs; with a multi-threaded context all of its threads
    /// serve. Throws `Error`: E_INVALID_SANDBOX_CONFIG for options out of range, E_SANDBOX_FAILED without descriptors.
    explicit Runtime(asio::any_io_executor executor, RuntimeOptions options = {});
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime();

    /// Stops all commands by their stop policies, awaits them, and ends the helpers. Afterwards starts throw
    /// E_SANDBOX_NOT_INITIALIZED. A second call returns at once, and several may wait. Once begun it goes to its end:
    /// cancellation shows at what the caller awaits next. What a stream that somebody holds has left can still be taken
    /// afterwards.
    awaitable<void> close();

    /// For the library's own parts.
    [[nodiscard]] const std::shared_ptr<detail::RuntimeCore>& core() const noexcept { return core_; }

  private:
    std::shared_ptr<detail::RuntimeCore> core_;
};

}  // namespace sandpipe
