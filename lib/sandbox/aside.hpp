#pragma once

#include <sandpipe/awaitable.hpp>

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace sandpipe {

inline constexpr std::chrono::seconds kStartTimeout{30};

/// Runs `work` on a thread of its own, so that a file system that hangs holds up nothing but this operation. Throws
/// what `work` throws, and `Error` E_SANDBOX_FAILED with `late` if it takes longer than `limit`; then, and when the
/// operation is cancelled, the thread is left to itself: nobody can end a thread in a system call, so `work` owns all
/// that it uses. Runs it here if no thread can be had.
awaitable<void> run_aside(asio::any_io_executor executor, std::function<void()> work, std::chrono::nanoseconds limit,
                          std::string late);

/// The same for work with a result.
template <typename Result>
awaitable<Result> call_aside(asio::any_io_executor executor, std::function<Result()> work,
                             std::chrono::nanoseconds limit, std::string late) {
    auto result = std::make_shared<std::unique_ptr<Result>>();
    std::function<void()> task = [result, work = std::move(work)] { *result = std::make_unique<Result>(work()); };
    co_await run_aside(std::move(executor), std::move(task), limit, std::move(late));
    co_return std::move(**result);
}

}  // namespace sandpipe
