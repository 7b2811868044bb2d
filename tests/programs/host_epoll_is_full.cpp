// Its epoll takes no more descriptors, as where max_user_watches is reached (epoll_ctl(2)): starts fail as data, and
// leave nothing open.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>

#include "host.hpp"

using namespace sandpipe;

namespace {

void refuse_additions() {
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

std::ptrdiff_t descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

void expect_shortage(Host& host) {
    const BinaryExecResult result = host.exec(command("cat").input(Input::bytes("x")));
    const auto* failure = std::get_if<NotStarted>(&result.status);
    check(failure && failure->stage == Stage::resources && failure->error.value() == ENOSPC, "a typed shortage");
}

}  // namespace

int main() {
    Host host;
    check(host.exec(command("true")).exit_code == 0, "the launcher runs");
    refuse_additions();
    expect_shortage(host);
    const std::ptrdiff_t before = descriptors();
    for (int i = 0; i < 50; ++i) expect_shortage(host);
    check(descriptors() == before, "no descriptor is left open");
    Host other;
    expect_shortage(other);  // whose launcher is still to be started
}
