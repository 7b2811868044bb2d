#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/unique_fd.hpp>

#include <asio/any_io_executor.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace sandpipe::detail {

/// Work on a thread of its own, so that a file system that hangs holds up nobody else. Nobody can end a thread in a
/// system call, and the event loop may be gone before it: `work` owns all that it uses.
class AsideTask {
  public:
    /// `ended` becomes readable when the thread is done. Where no thread can be had the work is done here and now,
    /// and `ended` stays empty.
    [[nodiscard]] static std::shared_ptr<AsideTask> start(std::function<void()> work, unique_fd& ended);

    /// Then all that the work wrote can be read. A wait for `ended` may be over earlier (`wait_until_ready`).
    [[nodiscard]] bool done() const noexcept { return written_.load(std::memory_order_acquire); }
    /// Throws what the work threw. Once it is done.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    void run() noexcept;
    [[nodiscard]] static bool start_thread(const std::shared_ptr<AsideTask>& task);

    std::function<void()> work_;
    std::exception_ptr error_;
    std::atomic<bool> written_{false};  // the others are, and so is what the work wrote
    unique_fd done_;                    // its closing tells so to the loop
};

/// Runs `work` aside. Throws what it throws, and `Error` E_SANDBOX_FAILED with `late` if it takes longer than
/// `limit`; then, and when the operation is cancelled, the thread is left to itself.
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

}  // namespace sandpipe::detail
