// May have very few processes and wants fifty commands at once: each one runs, or says why not.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "host.hpp"

using namespace sandpipe;

/// What RLIMIT_NPROC counts: the threads of this user.
rlim_t tasks_of_user() {
    rlim_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        struct stat facts {};
        if (::stat(entry.path().c_str(), &facts) < 0 || facts.st_uid != ::getuid()) continue;
        std::error_code gone;
        for (std::filesystem::directory_iterator task(entry.path() / "task", gone), end; !gone && task != end;
             task.increment(gone))
            ++count;
    }
    return count;
}

void allow(rlim_t more) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NPROC, &limit);
    limit.rlim_cur = tasks_of_user() + more;
    check(::setrlimit(RLIMIT_NPROC, &limit) == 0, "the limit");
}

bool is_typed(const BinaryExecResult& result) {
    const auto* failure = std::get_if<NotStarted>(&result.status);
    return failure && failure->stage == Stage::resources &&
           failure->error == std::errc::resource_unavailable_try_again &&
           failure->hint.find("ulimit -u") != std::string::npos && result.cause == Cause::not_started;
}

int main() {
    Host host;
    allow(0);
    check(is_typed(host.exec(command("true"))), "no helper can be started");
    allow(8);
    const auto executor = local_executor(host.runtime);
    int good = 0;
    int typed = 0;
    for (int i = 0; i < 50; ++i)
        asio::co_spawn(host.io, executor->exec(command("sleep").args(".3")),
                       [&](std::exception_ptr error, BinaryExecResult result) {
                           if (error) std::rethrow_exception(error);
                           good += result.exit_code == 0 && result.cause == Cause::finished;
                           typed += is_typed(result);
                       });
    host.io.restart();
    host.io.run();
    std::printf("%d ran, %d did not start\n", good, typed);
    check(good + typed == 50, "every command has a result of its own");
    check(good >= 8, "those that fit ran, and some after them");
    for (int i = 0; i < 20; ++i) check(host.exec(command("true")).exit_code == 0, "afterwards everything is as before");
}
