// Three ways to end a command early. Each ends the whole tree of processes.
#include <sandpipe/sandpipe.hpp>

#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>

using namespace sandpipe;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

BinaryInvocation endless() { return command("sh").args("-c", "echo working; setsid sleep 60 & sleep 60"); }

awaitable<bool> end_three(Runtime& runtime) {
    const auto executor = local_executor(runtime);
    const auto begin = std::chrono::steady_clock::now();

    // A timeout leaves the partial output in the result.
    const BinaryExecResult late = co_await executor->exec(endless().timeout(300ms));
    std::cout << to_string(late.cause) << " after \"" << late.out << "\"\n";

    // Asio's own means work on every operation. `||` drops the result of what it cancels.
    asio::steady_timer timer(co_await asio::this_coro::executor, 300ms);
    const auto first = co_await (executor->exec(endless()) || timer.async_wait(asio::use_awaitable));
    std::cout << (first.index() == 1 ? "the timer came first\n" : "the command came first\n");

    // A stream is stopped by the one who reads it, here after its first output.
    CommandStream stream = co_await start_command(runtime, endless());
    co_await stream.next();
    stream.stop();
    const CommandResult stopped = co_await stream.finish();
    std::cout << to_string(stopped.cause) << "\n";

    co_await runtime.close();
    const bool as_shown = late.cause == Cause::timed_out && late.out == "working" && first.index() == 1 &&
                          stopped.cause == Cause::cancelled && std::chrono::steady_clock::now() - begin < 30s;
    co_return as_shown;
}

int main() {
    asio::io_context context;
    Runtime runtime{context.get_executor()};
    bool as_shown = false;
    co_spawn(context, end_three(runtime), [&](std::exception_ptr error, bool result) {
        if (error) std::rethrow_exception(error);
        as_shown = result;
    });
    context.run();
    return as_shown ? 0 : 1;
}
