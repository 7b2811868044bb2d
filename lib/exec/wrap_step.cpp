#include "wrap_step.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>

#include <functional>
#include <utility>

#include "process/completion.hpp"

namespace sandpipe {
namespace {

using detail::Completion;

constexpr std::chrono::seconds kGrace{2};

/// co_spawn wants a result with a default constructor.
awaitable<std::optional<BinaryInvocation>> wrap(std::shared_ptr<BinarySandbox> sandbox, BinaryInvocation invocation) {
    co_return co_await sandbox->wrap(std::move(invocation));
}

/// The wait for one wrap. Everything but the constructor runs on the strand or gets there.
class WrapStep : public std::enable_shared_from_this<WrapStep> {
  public:
    explicit WrapStep(const asio::any_io_executor& executor) : strand_(asio::make_strand(executor)), timer_(strand_) {}

    void begin(std::shared_ptr<BinarySandbox> sandbox, BinaryInvocation invocation, std::chrono::nanoseconds limit,
               Completion<WrapOutcome> done) {
        done_ = std::move(done);
        arm(limit);
        auto on_end = [self = shared_from_this()](const std::exception_ptr& error,
                                                  std::optional<BinaryInvocation> wrapped) {
            self->on_wrapped(error, std::move(wrapped));
        };
        asio::co_spawn(strand_, wrap(std::move(sandbox), std::move(invocation)),
                       asio::bind_cancellation_slot(signal_.slot(),
                                                    asio::bind_executor(strand_, std::move(on_end))));
    }

    void on_cancel() {
        if (!done_) return;
        if (std::exchange(outcome_.cancelled, true)) return finish();
        give_up();
    }

    [[nodiscard]] const auto& strand() const noexcept { return strand_; }

  private:
    void arm(std::chrono::nanoseconds time) {
        // kNoTimeout is more than a clock can hold.
        if (time == kNoTimeout) return;
        timer_.expires_after(time);
        timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
            if (!error) self->on_time();
        });
    }

    void on_time() {
        if (!done_) return;
        if (outcome_.cancelled || std::exchange(outcome_.timed_out, true)) return finish();
        give_up();
    }

    void give_up() {
        arm(kGrace);
        signal_.emit(asio::cancellation_type::terminal);
    }

    void on_wrapped(const std::exception_ptr& error, std::optional<BinaryInvocation> wrapped) {
        if (!done_) return;
        if (!outcome_.cancelled && !outcome_.timed_out) {
            outcome_.error = error;
            outcome_.wrapped = std::move(wrapped);
        }
        finish();
    }

    void finish() {
        timer_.cancel();
        done_.succeed(std::move(outcome_));
    }

    asio::strand<asio::any_io_executor> strand_;
    asio::steady_timer timer_;
    asio::cancellation_signal signal_;
    Completion<WrapOutcome> done_;
    WrapOutcome outcome_;
};

}  // namespace

awaitable<WrapOutcome> wrap_within(asio::any_io_executor executor, std::shared_ptr<BinarySandbox> sandbox,
                                   BinaryInvocation invocation, std::chrono::nanoseconds limit) {
    auto step = std::make_shared<WrapStep>(executor);
    auto what = std::make_shared<BinaryInvocation>(std::move(invocation));
    detail::OnCancel<WrapOutcome> on_cancel;
    // Weak: the slot lives in the coroutine that `step` keeps.
    on_cancel.cancel = [weak = std::weak_ptr(step)] {
        if (const auto waiting = weak.lock()) asio::post(waiting->strand(), [waiting] { waiting->on_cancel(); });
    };
    std::function<void(Completion<WrapOutcome>)> begin = [=](Completion<WrapOutcome> done) {
        auto waiting = std::make_shared<Completion<WrapOutcome>>(std::move(done));
        asio::post(step->strand(), [=] { step->begin(sandbox, std::move(*what), limit, std::move(*waiting)); });
    };
    return detail::await_completion<WrapOutcome>(std::move(begin), std::move(on_cancel));
}

}  // namespace sandpipe
