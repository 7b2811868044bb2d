#include <sandpipe/stop_on_signals.hpp>

#include <asio/signal_set.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <csignal>

#include "process/runtime_core.hpp"

namespace sandpipe {

awaitable<void> stop_on_signals(Runtime& runtime) {
    const auto core = runtime.core();
    asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
    for (;;) {
        const int signal = co_await signals.async_wait(asio::use_awaitable);
        core->log(LogLevel::info, 0, "signal " + std::to_string(signal) + ": stopping all commands");
        core->stop_commands();
    }
}

}  // namespace sandpipe
