// sandboxed_host WORKSPACE SECONDS [LINE]: a host that runs a tree of sleeping processes, or a line that may write to
// the workspace, in a session and waits.
#include <sandpipe/command_stream.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <cstdio>
#include <exception>
#include <string>

using namespace sandpipe;

static awaitable<void> hold(Runtime& runtime, std::string workspace, std::string seconds, std::string given) {
    SrtEnforcerOptions options;
    options.workspace = std::move(workspace);
    if (!given.empty()) options.policy.filesystem.allow_write.emplace_back(".");
    if (!given.empty()) options.policy.filesystem.deny_write = {"no", "no-such/file", "**/*.key"};
    auto enforcer = co_await srt_enforcer(runtime, options);
    const std::string sleepers =
        "trap '' TERM; setsid sleep " + seconds + " & sleep " + seconds + " & echo up; wait";
    CommandStream stream = co_await enforcer->run(enforcer->shell(given.empty() ? sleepers : given));
    co_await stream.next();
    std::puts("up");
    std::fflush(stdout);
    co_await stream.finish();
}

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) return 2;
    asio::io_context context;
    Runtime runtime(context.get_executor());
    asio::co_spawn(context, hold(runtime, argv[1], argv[2], argc == 4 ? argv[3] : ""),
                   [](std::exception_ptr error) {
                       if (error) std::rethrow_exception(error);
                   });
    context.run();
}
