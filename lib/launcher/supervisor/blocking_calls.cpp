#include "launcher/supervisor/blocking_calls.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include <cerrno>
#include <utility>

#include "launcher/kernel/pending_signals.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMostWaiting = 256;  // at one time, of one command
constexpr std::size_t kStackBytes = 8 * 1024;
constexpr int kNothingYet = 1 << 30;

}  // namespace

struct BlockingCalls::Work {
    Call call;
    int result = kNothingYet;  // what it stays if its child is killed
    bool interrupted = false;
    alignas(16) std::array<char, kStackBytes> stack;
};

BlockingCalls::BlockingCalls() = default;

BlockingCalls::~BlockingCalls() {
    // They use the memory that goes now.
    for (const auto& [pid, work] : works_) {
        ::kill(pid, SIGKILL);
        while (sys::raw_syscall(SYS_wait4, pid, 0, 0, 0) == -EINTR) {
        }
    }
}

int BlockingCalls::start(Call call) {
    if (works_.size() >= kMostWaiting) return -EAGAIN;
    auto work = std::make_unique<Work>();
    work->call = std::move(call);
    // In the child: raw system calls only, for errno and the heap are this process's.
    const auto wait = [](void* argument) noexcept {
        auto& mine = *static_cast<Work*>(argument);
        const auto& with = mine.call.arguments;
        mine.result = static_cast<int>(sys::raw_syscall(mine.call.number, with[0], with[1], with[2], with[3]));
        for (;;) sys::raw_syscall(SYS_exit_group, 0);
        return 0;
    };
    const int pid =
        ::clone(wait, work->stack.data() + work->stack.size(), CLONE_VM | CLONE_FILES | SIGCHLD, work.get());
    if (pid < 0) return -errno;
    works_.emplace(pid, std::move(work));
    return 0;
}

std::optional<BlockingCalls::Ended> BlockingCalls::on_child(pid_t pid) {
    auto found = works_.extract(pid);
    if (found.empty()) return std::nullopt;
    Work& work = *found.mapped();
    const bool unknown = work.result == kNothingYet;
    const int killed = work.interrupted ? -kRestart : -EINTR;
    return Ended{std::move(work.call), unknown ? killed : work.result, unknown};
}

void BlockingCalls::end_interrupted() const {
    for (const auto& [pid, work] : works_) {
        if (work->interrupted || !has_pending_signal(work->call.thread)) continue;
        work->interrupted = true;
        ::kill(pid, SIGKILL);
    }
}

void BlockingCalls::end_unless(const std::function<bool(std::uint64_t)>& still_waiting) const {
    for (const auto& [pid, work] : works_)
        if (!still_waiting(work->call.cookie)) ::kill(pid, SIGKILL);
}

}  // namespace sandpipe::launcher
