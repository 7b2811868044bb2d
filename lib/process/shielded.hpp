#pragma once

#include <sandpipe/awaitable.hpp>

#include <asio/co_spawn.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "process/completion.hpp"

namespace sandpipe::detail {

/// Cleanup that awaits: once begun it runs to its end, as a coroutine of its own on the caller's executor, which the
/// caller's cancellation does not reach. The caller's cancellation state stays as it is: what it awaits next throws.
inline awaitable<void> shielded(awaitable<void> work) {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto held = std::make_shared<awaitable<void>>(std::move(work));
    std::function<void(Completion<bool>)> begin = [executor, held](Completion<bool> done) {
        asio::co_spawn(executor, std::move(*held),
                       [waiting = std::move(done)](std::exception_ptr error) mutable {
                           if (error) return waiting.fail(std::move(error));
                           waiting.succeed(true);
                       });
    };
    co_await await_completion<bool>(std::move(begin));
}

}  // namespace sandpipe::detail
