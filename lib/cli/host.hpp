#pragma once

#include <sandpipe/runtime.hpp>

#include <asio/io_context.hpp>
#include <asio/thread_pool.hpp>

#include "ending.hpp"
#include "interrupts.hpp"
#include "options.hpp"

namespace sandpipe::cli {

/// What the commands run on. Their own coroutine has the main thread, where writing our output may block; the
/// library's I/O has another one, so that pipes are read and timeouts hold meanwhile.
class Host {
  public:
    explicit Host(LogThreshold log);

    /// Runs `work` to its end; a signal cancels it, unless it has an InterruptAction of its own. Rethrows.
    Ending drive(awaitable<Ending> work);
    /// Ends everything. Throws what that throws.
    void close();

    [[nodiscard]] Interrupts& interrupts() noexcept { return interrupts_; }
    [[nodiscard]] Runtime& runtime() noexcept { return runtime_; }

  private:
    asio::io_context context_;
    Interrupts interrupts_;
    asio::thread_pool background_{1};
    Runtime runtime_;
};

}  // namespace sandpipe::cli
