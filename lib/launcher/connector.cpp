#include "connector.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <utility>

#include "launcher/pending_signals.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMostWaiting = 256;  // connects that block at one time, of one command
constexpr std::size_t kStackBytes = 8 * 1024;

bool may_block(int socket) {
    int type = 0;
    socklen_t size = sizeof type;
    const bool connects = ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
                          (type == SOCK_STREAM || type == SOCK_SEQPACKET);
    return connects && !(::fcntl(socket, F_GETFL) & O_NONBLOCK);
}

/// What the kernel itself makes of a connect that a signal interrupts (sock_intr_errno in include/net/sock.h): it asks
/// whether the handler wants it made anew, unless its time is limited.
int interruption(int socket) {
    timeval limit{};
    socklen_t size = sizeof limit;
    ::getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, &size);
    constexpr int kRestart = 512;  // ERESTARTSYS, which user mode never sees: the signal is pending
    return limit.tv_sec == 0 && limit.tv_usec == 0 ? -kRestart : -EINTR;
}

}  // namespace

struct Connector::Work {
    static constexpr int kKilled = 1;

    Request request;
    int result = kKilled;  // what it stays if its child is killed
    bool interrupted = false;
    alignas(16) std::array<char, kStackBytes> stack;
};

Connector::Connector() = default;

Connector::~Connector() {
    // They use the memory that goes now.
    for (const auto& [pid, work] : works_) {
        ::kill(pid, SIGKILL);
        while (sys::raw_syscall(SYS_wait4, pid, 0, 0, 0) == -EINTR) {
        }
    }
}

int Connector::connect(Request request) {
    const int socket = request.socket.get();
    if (!may_block(socket)) return ::connect(socket, request.address.data(), request.address.size) < 0 ? -errno : 0;
    if (works_.size() >= kMostWaiting) return -EAGAIN;
    auto work = std::make_unique<Work>();
    work->request = std::move(request);
    // In the child: raw system calls only, for errno and the heap are this process's.
    const auto wait = [](void* argument) noexcept {
        auto& mine = *static_cast<Work*>(argument);
        mine.result = static_cast<int>(sys::raw_syscall(SYS_connect, mine.request.socket.get(),
                                                        sys::word(mine.request.address.data()),
                                                        mine.request.address.size));
        for (;;) sys::raw_syscall(SYS_exit_group, 0);
        return 0;
    };
    const int pid = ::clone(wait, work->stack.data() + work->stack.size(), CLONE_VM | CLONE_FILES | SIGCHLD, work.get());
    if (pid < 0) return -errno;
    works_.emplace(pid, std::move(work));
    return kLater;
}

bool Connector::on_child(pid_t pid, const Done& done) {
    auto found = works_.extract(pid);
    if (found.empty()) return false;
    const Work& work = *found.mapped();
    const int killed = work.interrupted ? interruption(work.request.socket.get()) : -EINTR;
    done(work.request.cookie, work.result == Work::kKilled ? killed : work.result);
    return true;
}

void Connector::end_interrupted() {
    for (const auto& [pid, work] : works_) {
        if (work->interrupted || !has_pending_signal(work->request.thread)) continue;
        work->interrupted = true;
        ::kill(pid, SIGKILL);
    }
}

void Connector::end_unless(const std::function<bool(std::uint64_t)>& still_waiting) const {
    for (const auto& [pid, work] : works_)
        if (!still_waiting(work->request.cookie)) ::kill(pid, SIGKILL);
}

}  // namespace sandpipe::launcher
