// May open very few files and wants two hundred commands at once: each one runs, or says why not.
#include <sys/resource.h>

#include "host.hpp"

using namespace sandpipe;

int main() {
    const rlimit few{64, 64};
    ::setrlimit(RLIMIT_NOFILE, &few);
    Host host;
    const auto executor = local_executor(host.runtime);
    int good = 0;
    int typed = 0;
    for (int i = 0; i < 200; ++i)
        asio::co_spawn(host.io, executor->exec(command("true")),
                       [&](std::exception_ptr error, BinaryExecResult result) {
                           if (error) std::rethrow_exception(error);
                           const auto* failure = std::get_if<NotStarted>(&result.status);
                           if (failure && failure->stage != Stage::resources)
                               std::printf("%s %s %s\n", std::string(to_string(failure->stage)).c_str(),
                                           failure->error.message().c_str(), failure->hint.c_str());
                           typed += failure && failure->stage == Stage::resources;
                           good += !failure && result.exit_code == 0;
                       });
    host.io.run();
    check(good + typed == 200, "every command has a result of its own");
    check(good > 0, "some ran");
    for (int i = 0; i < 20; ++i)
        check(host.exec(command("true")).exit_code == 0, "afterwards everything is as before");
}
