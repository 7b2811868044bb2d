// Shows a command's output as it arrives, with its number, time and stream.
#include <sandpipe/sandpipe.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>

using namespace sandpipe;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr const char* kScript = "echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three; exit 7";

void show(const OutputChunk& chunk) {
    std::cout << chunk.seq << "  " << Milliseconds(chunk.time).count() << " ms  "
              << (chunk.stream == StreamTag::out ? "out  " : "err  ") << chunk.data << std::flush;
}

awaitable<bool> stream_it(Runtime& runtime) {
    CommandStream stream = co_await start_command(runtime, command("sh").args("-c", kScript));
    std::string seen;
    std::chrono::nanoseconds last{};
    bool spaced = true;
    int exit_code = -1;
    while (const std::optional<OutputEvent> event = co_await stream.next()) {
        if (const auto* chunk = std::get_if<OutputChunk>(&*event)) {
            show(*chunk);
            seen += chunk->data;
            spaced = spaced && chunk->time > last;
            last = chunk->time;
        } else if (const auto* finished = std::get_if<Finished>(&*event)) {
            exit_code = finished->result.exit_code;
            std::cout << "exit code " << exit_code << "\n";
        }
    }
    co_await runtime.close();
    const bool as_shown =
        seen == "one\ntwo\nthree\n" && spaced && last > std::chrono::milliseconds{150} && exit_code == 7;
    co_return as_shown;
}

int main() {
    asio::io_context context;
    Runtime runtime{context.get_executor()};
    bool as_shown = false;
    co_spawn(context, stream_it(runtime), [&](std::exception_ptr error, bool result) {
        if (error) std::rethrow_exception(error);
        as_shown = result;
    });
    context.run();
    return as_shown ? 0 : 1;
}
