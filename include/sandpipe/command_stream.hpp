#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/invocation.hpp>
#include <sandpipe/output_event.hpp>
#include <sandpipe/runtime.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sandpipe {

namespace detail {
class CommandCore;
}

/// A running command whose output is taken as it arrives. Movable; one operation at a time, except that a `write` may
/// wait beside a `next`: a command that is fed and answers needs both.
/// The destructor stops the command by its stop policy without waiting; the Runtime sees it to its end.
/// Once the context of its Runtime has been destroyed, `next`, `finish` and `write` throw E_SANDBOX_NOT_INITIALIZED.
class CommandStream {
  public:
    /// Empty, to be assigned to; its operations throw `Error` E_SANDBOX_NOT_INITIALIZED.
    CommandStream() noexcept = default;
    CommandStream(CommandStream&&) noexcept;
    CommandStream& operator=(CommandStream&&) noexcept;
    CommandStream(const CommandStream&) = delete;
    CommandStream& operator=(const CommandStream&) = delete;
    ~CommandStream();

    /// The next event in order of arrival; the last one is `Finished`, then nullopt. At most 256 KiB wait
    /// unread: a consumer that does not ask makes the command wait, and loses nothing. Cancellation throws
    /// operation_aborted and loses no event; the command runs on.
    awaitable<std::optional<OutputEvent>> next();

    /// Passes over the events that are left and returns the result once the command has settled.
    /// Cancellation stops the command (a second one kills it); the result comes with cause `cancelled`.
    awaitable<CommandResult> finish();

    /// Starts the stop policy; a second call kills at once. Returns at once; `next` and `finish` tell the
    /// end.
    void stop();

    /// Writes all of `data` to the command's stdin (Input::stream() only, otherwise throws `Error`).
    /// Waits while the command does not read. False: the command has closed its stdin or ended. Cancellation throws
    /// operation_aborted and drops what the command's pipe had no room for; the command runs on.
    awaitable<bool> write(std::string data);
    /// End of file for the command's stdin.
    awaitable<void> close_input();

    /// Whether a program was started at all.
    [[nodiscard]] bool started() const noexcept;
    /// The random number in this command's markers, 12 hex digits.
    [[nodiscard]] std::string_view marker() const noexcept;
    /// Counts up within the process, across Runtimes; stands in log records and audit events.
    [[nodiscard]] std::uint64_t id() const noexcept;

    /// For the library's own parts.
    explicit CommandStream(std::shared_ptr<detail::CommandCore> core) noexcept;

  private:
    [[nodiscard]] detail::CommandCore& core() const;

    std::shared_ptr<detail::CommandCore> core_;
};

/// Starts a plain command, or one that a sandbox has wrapped, and returns once it has started or failed to: a
/// failed start is a stream whose only event is `Finished`. Throws `Error` for a wrong invocation.
/// Without a limit of its own a stream has none; without a timeout of its own it has none.
/// Cancellation ends what was begun and throws operation_aborted.
awaitable<CommandStream> start_command(Runtime& runtime, BinaryInvocation invocation);

}  // namespace sandpipe
