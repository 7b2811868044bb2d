// Adopts orphans, as pid 1 of a pid namespace does, or as a subreaper ("subreaper"): nothing of the library's own and
// nothing that commands leave behind becomes a zombie of this process.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "host.hpp"

using namespace sandpipe;

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG | __WALL) != -1 || errno != ECHILD; }

int next_child() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? info.si_pid : -1;
}

void run_commands(Host& host) {
    for (const char* line : {"sleep 1 & exit 3", "(setsid sleep .05 >/dev/null 2>&1 &); exit 3", "exit 3"}) {
        check(host.exec(command("/bin/sh").args("-c", line)).exit_code == 3, line);
        check(next_child() <= 0, "a zombie beside a command");
    }
}

void close(Host& host) {
    asio::co_spawn(host.io, host.runtime.close(), [](std::exception_ptr error) { check(!error, "close"); });
    host.io.restart();
    host.io.run();
}

void fail_to_start_a_helper() {
    asio::io_context io;
    RuntimeOptions options;
    options.launcher_path = "/etc/passwd";
    Runtime runtime(io.get_executor(), options);
    bool not_started = false;
    asio::co_spawn(io, local_executor(runtime)->exec(command("true")),
                   [&](const std::exception_ptr&, const BinaryExecResult& result) {
                       not_started = std::holds_alternative<NotStarted>(result.status);
                   });
    io.run();
    check(not_started, "no helper can be made of a text");
    asio::co_spawn(io, runtime.close(), [](std::exception_ptr error) { check(!error, "close"); });
    io.restart();
    io.run();
}

int main(int argc, char** argv) {
    const bool subreaper = argc > 1 && std::string_view(argv[1]) == "subreaper";
    check(subreaper ? ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 : ::getpid() == 1, "this is no such process");
    {
        Host closed;
        run_commands(closed);
        close(closed);
        check(!has_children(), "a child is left after close()");
    }
    fail_to_start_a_helper();
    check(!has_children(), "a helper that could not be executed is left");
    {
        Host dropped;
        run_commands(dropped);
    }
    // The destructor did not wait for its helper: unless that was quick, it is reaped when another starts or ends.
    siginfo_t info{};
    const bool ended = ::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 || errno == ECHILD;
    check(ended, "the helper of a Runtime that was dropped ends");
    Host next;
    run_commands(next);
    close(next);
    check(!has_children(), "a child is left in the end");
}
