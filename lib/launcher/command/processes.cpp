#include "launcher/command/processes.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "launcher/command/child.hpp"
#include "launcher/command/command_mark.hpp"
#include "launcher/kernel/proc_file.hpp"
#include "sys/descriptors.hpp"
#include "sys/directory.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

int read_facts(pid_t pid, ProcessFacts& facts) {
    ProcessStat stat;
    if (const int error = read_stat(pid, stat); error < 0) return error;
    facts = {pid, stat.parent, stat.group, stat.start_time, stat.dead()};
    return 0;
}

int look_at_all(std::vector<ProcessFacts>& all) {
    const sys::Directory directory(::opendir("/proc"));
    if (!directory) return -errno;
    errno = 0;
    while (const dirent* entry = ::readdir(directory.get())) {
        const int pid = std::atoi(entry->d_name);
        ProcessFacts facts;
        const int error = pid > 0 ? read_facts(pid, facts) : -ESRCH;
        if (error == 0) all.push_back(facts);
        if (sys::is_shortage(-error)) return error;
        errno = 0;
    }
    return -errno;
}

}  // namespace

int look_at_processes(const std::unordered_set<pid_t>& leaders, std::optional<ProcessTable>& table) {
    std::vector<ProcessFacts> all;
    int error = look_at_all(all);
    if (error < 0) return error;
    const auto mark_of = [&error](pid_t pid) {
        rlim_t mark = 0;
        if (const int unread = read_mark(pid, mark); sys::is_shortage(-unread)) error = unread;
        return mark;
    };
    ProcessTable seen(all, ::getpid(), leaders, mark_of);
    if (error == 0) table = std::move(seen);
    return error;
}

void signal_group(pid_t leader, int signal) noexcept {
    if (leader <= 0) return;
    // Between clone and setpgid the leader is not in its group yet.
    if (::kill(-leader, signal) < 0 && errno == ESRCH) ::kill(leader, signal);
}

void signal_process(const ProcessFacts& process, int signal) {
    unique_fd pidfd;
    ProcessFacts now;
    if (sys::open_pidfd(process.pid, pidfd) < 0 || read_facts(process.pid, now) < 0) return;
    if (now.start_time == process.start_time)
        sys::raw_syscall(SYS_pidfd_send_signal, pidfd.get(), signal, 0, 0);
}

void end_all_descendants() {
    sigset_t child_signals;
    sigemptyset(&child_signals);
    sigaddset(&child_signals, SIGCHLD);
    constexpr timespec kMostWait{0, 100'000'000};
    for (const std::int64_t end = monotonic_ns() + 1'000'000'000; monotonic_ns() < end;) {
        // Our own children cannot be given another number before we reap them; what is below them becomes
        // ours.
        std::vector<ProcessFacts> all;
        (void)look_at_all(all);  // again in a moment, whatever was missed
        for (const ProcessFacts& facts : all)
            if (!facts.dead && facts.parent == ::getpid()) ::kill(facts.pid, SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
        ::sigtimedwait(&child_signals, nullptr, &kMostWait);  // blocked already, for the event loop
    }
}

}  // namespace sandpipe::launcher
