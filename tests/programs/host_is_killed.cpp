// Starts trees of every kind and waits for its own end, which is SIGKILL.
#include <sandpipe/command_stream.hpp>

#include <vector>

#include "host.hpp"

using namespace sandpipe;

awaitable<void> run_for_ever(Runtime& runtime, BinaryInvocation invocation) {
    CommandStream stream = co_await start_command(runtime, std::move(invocation));
    std::puts("started");
    std::fflush(stdout);
    co_await stream.finish();
}

int main() {
    Host host;
    for (const char* line : {"sleep 600; :", "trap '' TERM HUP INT; while :; do sleep .1; done",
                             "setsid sh -c 'trap \"\" TERM; sleep 600; :' & wait", "kill -STOP $$",
                             "(setsid setsid sleep 600 &); sleep 600"})
        asio::co_spawn(host.io, run_for_ever(host.runtime, command("/bin/sh").args("-c", line)),
                       [](std::exception_ptr) {});
    host.io.run();
}
