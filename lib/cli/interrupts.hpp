#pragma once

#include <sandpipe/awaitable.hpp>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <functional>
#include <utility>

namespace sandpipe::cli {

/// Makes SIGINT and SIGTERM wait. First of all in main, so that no later one ends us without a last word.
void hold_interrupts();
/// Lets them end us again: for work that has no Interrupts to answer them.
void let_interrupts_through();

/// SIGINT and SIGTERM to us. They are blocked and wait in a signalfd(2) instead of an asio::signal_set,
/// because that one answers only while its context runs, and ours may be held by a write to a terminal or
/// pipe that takes nothing. To be made before the first thread. Not thread-safe.
class Interrupts {
  public:
    /// Throws std::system_error.
    explicit Interrupts(asio::io_context& context);

    /// Takes the signals as they come, until `close`.
    awaitable<void> watch();
    void close();
    /// Takes those that have come, without waiting.
    void take();

    /// Readable when a signal has come.
    [[nodiscard]] int descriptor() { return signals_.native_handle(); }
    [[nodiscard]] int count() const noexcept { return count_; }
    /// The first signal; 0: none yet.
    [[nodiscard]] int first() const noexcept { return first_; }

  private:
    friend class InterruptAction;

    asio::posix::stream_descriptor signals_;
    std::function<void()> action_;
    int count_ = 0;
    int first_ = 0;
};

/// What each signal does while this object lives; for those that have come before, it is done at once.
class InterruptAction {
  public:
    InterruptAction(Interrupts& interrupts, std::function<void()> action);
    InterruptAction(const InterruptAction&) = delete;
    InterruptAction& operator=(const InterruptAction&) = delete;
    ~InterruptAction();

  private:
    Interrupts& interrupts_;
    std::function<void()> outer_;
};

}  // namespace sandpipe::cli
