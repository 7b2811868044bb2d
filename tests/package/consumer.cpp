// A user's program. It runs a command and prints what the command says and which file its launcher runs from.
//
//     consumer [--without-memfd] [LAUNCHER_PATH]
#include <sandpipe/error.hpp>
#include <sandpipe/local_executor.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <iostream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace sandpipe;

/// From here on as on a machine where nobody can make a memfd.
void forbid_memfds() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(program), program};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        throw std::system_error(errno, std::generic_category(), "seccomp");
}

awaitable<BinaryExecResult> ask(Runtime& runtime) {
    const auto executor = local_executor(runtime);
    BinaryExecResult result =
        co_await executor->exec(command("sh").args("-c", "echo hello from $(readlink /proc/$PPID/exe)"));
    co_await runtime.close();
    co_return result;
}

BinaryExecResult run(RuntimeOptions options) {
    asio::io_context context;
    Runtime runtime{context.get_executor(), std::move(options)};
    BinaryExecResult result;
    co_spawn(context, ask(runtime), [&](std::exception_ptr error, BinaryExecResult answer) {
        if (error) std::rethrow_exception(error);
        result = std::move(answer);
    });
    context.run();
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    RuntimeOptions options;
    try {
        for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
            if (argument == "--without-memfd")
                forbid_memfds();
            else
                options.launcher_path = argument;
        }
        const BinaryExecResult result = run(std::move(options));
        if (const auto* start = std::get_if<NotStarted>(&result.status))
            std::cout << "not started: " << start->error.message() << " " << start->path << " " << start->hint
                      << "\n";
        std::cout << result.out << "\n" << result.err;
        return result.failed ? 1 : 0;
    } catch (const Error& error) {
        std::cout << error.what() << "\n";
        return 1;
    }
}
