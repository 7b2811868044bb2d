#pragma once

#include <sandpipe/binary_executor.hpp>

#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_state.hpp>
#include <asio/co_spawn.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace sandpipe {

namespace detail {

inline awaitable<BinaryExecResult> exec_for_any_token(std::shared_ptr<BinaryExecutor> executor,
                                                      BinaryInvocation invocation) {
    // This coroutine's own state: every type of cancellation counts, not only terminal.
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    co_return co_await executor->exec(std::move(invocation));
}

}  // namespace detail

/// `BinaryExecutor::exec` for hosts without coroutines: any completion token (a callback, use_future, deferred, ...)
/// with the signature void(std::exception_ptr, BinaryExecResult). A wrong invocation comes as the exception. The
/// operation runs on the token's associated executor, or on `BinaryExecutor::default_executor`; each cancellation
/// from the token's slot counts as in `exec`. The executor is kept alive until completion.
template <typename CompletionToken>
auto async_exec(std::shared_ptr<BinaryExecutor> executor, BinaryInvocation invocation, CompletionToken&& token) {
    return asio::async_initiate<CompletionToken, void(std::exception_ptr, BinaryExecResult)>(
        [](auto handler, std::shared_ptr<BinaryExecutor> runner, BinaryInvocation what) {
            asio::any_io_executor where = runner->default_executor();
            using Own = asio::associated_executor_t<decltype(handler), asio::any_io_executor>;
            if constexpr (std::is_constructible_v<asio::any_io_executor, Own>)
                where = asio::get_associated_executor(handler, where);
            asio::co_spawn(where, detail::exec_for_any_token(std::move(runner), std::move(what)), std::move(handler));
        },
        token, std::move(executor), std::move(invocation));
}

}  // namespace sandpipe
