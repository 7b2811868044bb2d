#pragma once

#include <sandpipe/awaitable.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/bind_executor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "process/completion.hpp"
#include "process/steady_time.hpp"

namespace sandpipe::detail {

/// A coroutine's wait for one event, for a limited time, on a strand of its own. No coroutine itself: its frame would
/// keep what keeps it.
template <typename T>
class TimedWait : public std::enable_shared_from_this<TimedWait<T>> {
  public:
    using Clock = std::chrono::steady_clock;

    virtual ~TimedWait() = default;

    /// What `finish` was given; absent if it took longer than `limit`. Cancellation throws operation_aborted.
    static awaitable<std::optional<T>> run(std::shared_ptr<TimedWait> wait, std::chrono::nanoseconds limit) {
        using Done = Completion<std::optional<T>>;
        std::function<void(Done)> start = [wait, limit](Done done) {
            auto waiting = std::make_shared<Done>(std::move(done));
            asio::post(wait->strand_, [wait, waiting, limit] { wait->start(std::move(*waiting), limit); });
        };
        OnCancel<std::optional<T>> on_cancel;
        // Weak: the slot lives in the coroutine that `wait` keeps.
        on_cancel.cancel = [weak = std::weak_ptr(wait)] {
            if (const auto waiting = weak.lock()) waiting->cancel();
        };
        return await_completion<std::optional<T>>(std::move(start), std::move(on_cancel));
    }

  protected:
    using Strand = asio::strand<asio::any_io_executor>;

    explicit TimedWait(const asio::any_io_executor& executor)
        : strand_(asio::make_strand(executor)), timer_(strand_) {}

    [[nodiscard]] const Strand& strand() const noexcept { return strand_; }

    // On the strand:

    /// Waits for the event. The handlers keep this object.
    virtual void begin() = 0;
    /// Nobody waits any more: it came (`answered`), or it need not come.
    virtual void end(bool answered) = 0;

    void finish(T value) {
        conclude([&] { done_.succeed(std::move(value)); }, true);
    }
    void fail(std::exception_ptr error) {
        conclude([&] { done_.fail(std::move(error)); }, true);
    }

  private:
    void start(Completion<std::optional<T>> done, std::chrono::nanoseconds limit) {
        done_ = std::move(done);
        timer_.expires_at(later(Clock::now(), limit));
        timer_.async_wait(
            asio::bind_executor(strand_, [self = this->shared_from_this()](const std::error_code& error) {
                if (!error) self->conclude([&] { self->done_.succeed({}); }, false);
            }));
        begin();
    }

    void cancel() {
        asio::post(strand_,
                   [self = this->shared_from_this()] { self->conclude([&] { self->done_.abort(); }, false); });
    }

    template <typename Complete>
    void conclude(Complete complete, bool answered) {
        if (!done_) return;
        timer_.cancel();
        end(answered);
        complete();
    }

    Strand strand_;
    asio::steady_timer timer_;
    Completion<std::optional<T>> done_;
};

}  // namespace sandpipe::detail
