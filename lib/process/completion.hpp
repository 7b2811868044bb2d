#pragma once

#include <sandpipe/error.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace sandpipe::detail {

/// What becomes of an operation that is cancelled.
template <typename T>
struct OnCancel {
    /// Runs on the awaiting coroutine's executor for each cancellation; it never completes the operation by
    /// itself.
    std::function<void()> cancel;
    /// If set, a value that comes after the cancellation goes back here, and the operation throws
    /// operation_aborted: whoever cancelled has stopped looking for it.
    std::function<void(T)> give_back;
};

/// A completion handler that waits for its operation, whatever its type: Asio 1.22 has no
/// any_completion_handler. It completes on the handler's own executor, never inline, and keeps that executor
/// at work until then. Destroyed without completing, it destroys the waiting coroutine.
template <typename T>
class Completion {
  public:
    Completion() = default;

    template <typename Handler>
    Completion(Handler handler, OnCancel<T> on_cancel)
        : waiting_(std::make_unique<Waiting<Handler>>(std::move(handler), std::move(on_cancel))) {}

    explicit operator bool() const noexcept { return waiting_ != nullptr; }

    void succeed(T value) { std::exchange(waiting_, nullptr)->complete(nullptr, std::move(value)); }
    void fail(std::exception_ptr error) { std::exchange(waiting_, nullptr)->complete(std::move(error), T{}); }
    void abort() { fail(std::make_exception_ptr(std::system_error(asio::error::operation_aborted))); }

  private:
    struct Base {
        virtual ~Base() = default;
        virtual void complete(std::exception_ptr error, T value) = 0;
    };

    template <typename Handler>
    struct Waiting final : Base {
        using Executor = asio::associated_executor_t<Handler, asio::any_io_executor>;

        Waiting(Handler h, OnCancel<T> c)
            : handler(std::move(h)),
              work(asio::get_associated_executor(handler, asio::any_io_executor{})),
              give_back(std::move(c.give_back)) {
            auto slot = asio::get_associated_cancellation_slot(handler);
            if (!slot.is_connected()) return;
            slot.assign([flag = cancelled, cancel = std::move(c.cancel)](asio::cancellation_type) {
                *flag = true;
                if (cancel) cancel();
            });
        }

        void complete(std::exception_ptr error, T value) override {
            auto executor = work.get_executor();
            asio::post(executor,
                       [h = std::move(handler), w = std::move(work), flag = std::move(cancelled),
                        back = std::move(give_back), e = std::move(error), v = std::move(value)]() mutable {
                           // Here, on the coroutine's executor, cancellation is emitted too: the flag needs
                           // no lock.
                           asio::get_associated_cancellation_slot(h).clear();
                           if (*flag && back && !e) {
                               back(std::move(v));
                               e = std::make_exception_ptr(std::system_error(asio::error::operation_aborted));
                               v = T{};
                           }
                           std::move(h)(std::move(e), std::move(v));
                       });
        }

        Handler handler;
        asio::executor_work_guard<Executor> work;
        std::function<void(T)> give_back;
        std::shared_ptr<bool> cancelled = std::make_shared<bool>(false);
    };

    std::unique_ptr<Base> waiting_;
};

/// For an operation of which one may wait at a time.
template <typename T>
void refuse_second(Completion<T>& second, const char* operation) {
    second.fail(std::make_exception_ptr(Error(Errc::invalid_sandbox_config,
                                              std::string(operation) + ": another " + operation +
                                                  " of this CommandStream is under way; await that one first")));
}

/// An awaitable that completes when the Completion given to `start` does.
template <typename T>
asio::awaitable<T> await_completion(std::function<void(Completion<T>)> start, OnCancel<T> on_cancel = {}) {
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, T)>(
        [](auto handler, std::function<void(Completion<T>)> begin, OnCancel<T> cancel) {
            begin(Completion<T>(std::move(handler), std::move(cancel)));
        },
        asio::use_awaitable, std::move(start), std::move(on_cancel));
}

}  // namespace sandpipe::detail
