// Starts more commands than its helper may hold descriptors for: those that do not fit say why, the others run on.
#include <sys/resource.h>

#include <vector>

#include "host.hpp"

using namespace sandpipe;

int main() {
    const rlimit few{128, 128};
    ::setrlimit(RLIMIT_NOFILE, &few);
    Host host;
    const auto executor = local_executor(host.runtime);
    int good = 0;
    int typed = 0;
    // Without pipes a command needs one descriptor in the host, and two in the helper.
    for (int i = 0; i < 100; ++i) {
        auto quiet = command("/bin/sh").args("-c", "sleep 1; exit 3").out(Output::discard()).err(Output::discard());
        asio::co_spawn(host.io, executor->exec(std::move(quiet)),
                       [&](std::exception_ptr error, BinaryExecResult result) {
                           if (error) std::rethrow_exception(error);
                           const auto* failure = std::get_if<NotStarted>(&result.status);
                           typed += failure && failure->stage == Stage::resources && !failure->hint.empty();
                           good += result.exit_code == 3 && result.cause == Cause::finished;
                       });
    }
    host.io.run();
    std::printf("%d ran, %d did not start\n", good, typed);
    check(good + typed == 100, "every command has a result of its own");
    check(good >= 30 && typed > 0, "some ran, some did not fit");
    for (int i = 0; i < 20; ++i) check(host.exec(command("true")).exit_code == 0, "afterwards everything is as before");
}
