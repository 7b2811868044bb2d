#pragma once

#include <sandpipe/awaitable.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/cancellation_state.hpp>
#include <asio/co_spawn.hpp>
#include <asio/dispatch.hpp>
#include <asio/strand.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "process/completion.hpp"

namespace sandpipe::tool {

/// A coroutine of its own, on a strand of its caller's executor, that the caller awaits: its cancellation is
/// an act that the coroutine chooses, not an exception at whatever it awaits next, and the caller's own state
/// stays as it is.
class OwnTask : public std::enable_shared_from_this<OwnTask> {
  public:
    /// `cancelled`: whether the caller is already.
    OwnTask(const asio::any_io_executor& executor, bool cancelled)
        : executor_(asio::make_strand(executor)), cancelled_(cancelled) {}

    /// For the coroutine: what each cancellation does from now on; also what was cancelled before. Until this
    /// is set, cancellation ends what the coroutine awaits, with operation_aborted.
    void on_cancel(std::function<void()> act) {
        act_ = std::move(act);
        if (cancelled_) act_();
    }
    [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

    /// For the caller.
    void cancel() {
        asio::dispatch(executor_, [self = shared_from_this()] {
            self->cancelled_ = true;
            if (self->act_) return self->act_();
            self->signal_.emit(asio::cancellation_type::terminal);
        });
    }

    template <typename T>
    void run(awaitable<T> work, detail::Completion<T> done) {
        asio::co_spawn(executor_, std::move(work),
                       asio::bind_cancellation_slot(signal_.slot(),
                                                    [self = shared_from_this(), waiting = std::move(done)](
                                                        std::exception_ptr error, T value) mutable {
                                                        self->act_ = nullptr;
                                                        if (error) return waiting.fail(std::move(error));
                                                        waiting.succeed(std::move(value));
                                                    }));
    }

  private:
    const asio::any_io_executor executor_;
    asio::cancellation_signal signal_;
    std::function<void()> act_;
    bool cancelled_;
};

/// Runs `work` as an OwnTask of the calling coroutine.
template <typename T>
awaitable<T> run_apart(std::function<awaitable<T>(std::shared_ptr<OwnTask>)> work) {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
    const auto task = std::make_shared<OwnTask>(executor, state.cancelled() != asio::cancellation_type::none);
    std::function<void(detail::Completion<T>)> begin = [task, work](detail::Completion<T> done) {
        task->run(work(task), std::move(done));
    };
    detail::OnCancel<T> on_cancel;
    on_cancel.cancel = [task] { task->cancel(); };
    co_return co_await detail::await_completion<T>(std::move(begin), std::move(on_cancel));
}

}  // namespace sandpipe::tool
