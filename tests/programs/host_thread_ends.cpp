// Starts a command from a thread that ends at once; the command outlives the thread.
#include <sandpipe/command_stream.hpp>

#include <optional>
#include <thread>

#include "host.hpp"

using namespace sandpipe;

awaitable<void> start(Runtime& runtime, std::optional<CommandStream>& stream) {
    stream.emplace(co_await start_command(runtime, command("/bin/sh").args("-c", "sleep .5; exit 6")));
}

int main() {
    Host host;
    std::optional<CommandStream> stream;
    std::thread([&] {
        asio::co_spawn(host.io, start(host.runtime, stream), [&](std::exception_ptr) { host.io.stop(); });
        host.io.run();
    }).join();
    int code = -1;
    asio::co_spawn(host.io, stream->finish(),
                   [&](std::exception_ptr, CommandResult result) { code = result.exit_code; });
    host.io.restart();
    host.io.run();
    check(code == 6, "the command ended with its thread");
}
