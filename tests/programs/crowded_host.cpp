// crowded_host WORKSPACE: a host whose epoll takes no more descriptors once its session stands (epoll_ctl(2): ENOSPC).
// What it wraps then are relays that say why, each time, and no descriptor is left open.
#include <sandpipe/srt_enforcer.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>

using namespace sandpipe;

static void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
}

static void refuse_additions() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EPOLL_CTL_ADD, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(program), program};
    check(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    check(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "a filter");
}

static std::ptrdiff_t descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

static awaitable<void> crowd(Runtime& runtime, std::string workspace) {
    SrtEnforcerOptions options;
    options.workspace = std::move(workspace);
    const std::shared_ptr<SandboxEnforcer> enforcer = co_await srt_enforcer(runtime, std::move(options));
    refuse_additions();
    const std::ptrdiff_t before = descriptors();
    for (int i = 0; i < 5; ++i) {
        const BinaryInvocation wrapped = co_await enforcer->wrap(command("true"));
        check(!wrapped.fields().args.empty(), "a relay");
        check(wrapped.fields().args.back().find("no socket could be made") == 0, "a relay that says why");
    }
    check(descriptors() == before, "no descriptor is left open");
    co_await enforcer->close();
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    asio::io_context context;
    Runtime runtime(context.get_executor());
    asio::co_spawn(context, crowd(runtime, argv[1]), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    });
    context.run();
}
