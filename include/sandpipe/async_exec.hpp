#pragma once

#include <sandpipe/binary_executor.hpp>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace sandpipe {

namespace detail {

/// One call of `async_exec`. A coroutine of Asio's that has not begun heeds `terminal` alone, and then throws: so every
/// type of cancellation is passed on as that one, and a call that never began gets a result all the same.
struct AsyncCall {
    asio::cancellation_signal signal;
    bool begun = false;
};

/// What `exec` returns where it is cancelled before the start.
[[nodiscard]] BinaryExecResult cancelled_before_start();

inline awaitable<BinaryExecResult> exec_for_any_token(std::shared_ptr<BinaryExecutor> executor,
                                                      BinaryInvocation invocation, std::shared_ptr<AsyncCall> call) {
    call->begun = true;
    co_return co_await executor->exec(std::move(invocation));
}

/// Hands on what the coroutine gave, on the handler's own executor.
template <typename Handler>
auto completion_of(std::shared_ptr<AsyncCall> call, Handler handler) {
    return [call = std::move(call), handler = std::move(handler)](std::exception_ptr error,
                                                                  BinaryExecResult result) mutable {
        asio::get_associated_cancellation_slot(handler).clear();
        if (!call->begun) {
            error = nullptr;
            result = cancelled_before_start();
        }
        std::move(handler)(std::move(error), std::move(result));
    };
}

}  // namespace detail

/// `BinaryExecutor::exec` for hosts without coroutines: any completion token (a callback, use_future, deferred, ...)
/// with the signature void(std::exception_ptr, BinaryExecResult). A wrong invocation comes as the exception. The
/// operation runs on the token's associated executor, or on `BinaryExecutor::default_executor`; each cancellation
/// from the token's slot counts as in `exec`, from the call on. The executor is kept alive until completion.
template <typename CompletionToken>
auto async_exec(std::shared_ptr<BinaryExecutor> executor, BinaryInvocation invocation, CompletionToken&& token) {
    return asio::async_initiate<CompletionToken, void(std::exception_ptr, BinaryExecResult)>(
        [](auto handler, std::shared_ptr<BinaryExecutor> runner, BinaryInvocation what) {
            asio::any_io_executor where = runner->default_executor();
            using Own = asio::associated_executor_t<decltype(handler), asio::any_io_executor>;
            if constexpr (std::is_constructible_v<asio::any_io_executor, Own>)
                where = asio::get_associated_executor(handler, where);
            const auto own = asio::get_associated_executor(handler, where);
            auto call = std::make_shared<detail::AsyncCall>();
            if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
                slot.assign([call](asio::cancellation_type) { call->signal.emit(asio::cancellation_type::terminal); });
            auto work = detail::exec_for_any_token(std::move(runner), std::move(what), call);
            auto done = asio::bind_executor(own, detail::completion_of(call, std::move(handler)));
            asio::co_spawn(where, std::move(work), asio::bind_cancellation_slot(call->signal.slot(), std::move(done)));
        },
        token, std::move(executor), std::move(invocation));
}

}  // namespace sandpipe
