// Runs programs to their end: one that works, one that fails, one that does not exist.
#include <sandpipe/sandpipe.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>

using namespace sandpipe;
using namespace std::chrono_literals;

awaitable<bool> run_three(Runtime& runtime) {
    const auto executor = local_executor(runtime);

    // argv as given, no shell. What a caller passes is built by chained calls.
    const BinaryExecResult sorted =
        co_await executor->exec(command("sort").args("-n").input(Input::bytes("10\n9\n8\n")).timeout(5s));
    std::cout << "sort wrote:\n" << sorted.out << "\n\n";

    // A program that fails is a result, not an exception.
    const BinaryExecResult failing = co_await executor->exec(command("ls").args("/no/such/place"));
    std::cout << "ls exited with " << failing.exit_code << ": " << failing.err << "\n\n";

    // So is a program that cannot be started, with the step, the reason and what it was about.
    const BinaryExecResult missing = co_await executor->exec(command("no-such-program"));
    const auto* start = std::get_if<NotStarted>(&missing.status);
    if (start)
        std::cout << "not started: " << to_string(start->stage) << ", " << start->error.message() << "\n";

    co_await runtime.close();
    const bool as_shown = !sorted.failed && sorted.out == "8\n9\n10" && failing.failed &&
                          failing.exit_code == 2 && missing.cause == Cause::not_started && start &&
                          start->stage == Stage::program;
    co_return as_shown;
}

int main() {
    asio::io_context context;
    Runtime runtime{context.get_executor()};
    bool as_shown = false;
    co_spawn(context, run_three(runtime), [&](std::exception_ptr error, bool result) {
        if (error) std::rethrow_exception(error);
        as_shown = result;
    });
    context.run();
    return as_shown ? 0 : 1;
}
