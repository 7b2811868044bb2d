#include "processes.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "launcher/child.hpp"
#include "launcher/command_mark.hpp"
#include "launcher/proc_file.hpp"
#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

bool read_facts(pid_t pid, ProcessFacts& facts) {
    ProcessStat stat;
    if (!read_stat(pid, stat)) return false;
    facts = {pid, stat.parent, stat.group, stat.start_time, stat.dead()};
    return true;
}

std::vector<ProcessFacts> all_processes() {
    std::vector<ProcessFacts> result;
    DIR* directory = ::opendir("/proc");
    if (!directory) return result;
    while (const dirent* entry = ::readdir(directory)) {
        const int pid = std::atoi(entry->d_name);
        ProcessFacts facts;
        if (pid > 0 && read_facts(pid, facts)) result.push_back(facts);
    }
    ::closedir(directory);
    return result;
}

}  // namespace

ProcessTable look_at_processes(const std::unordered_set<pid_t>& leaders) {
    return {all_processes(), ::getpid(), leaders, mark_of};
}

void signal_group(pid_t leader, int signal) noexcept {
    if (leader <= 0) return;
    // Between clone and setpgid the leader is not in its group yet.
    if (::kill(-leader, signal) < 0 && errno == ESRCH) ::kill(leader, signal);
}

void signal_process(const ProcessFacts& process, int signal) {
    unique_fd pidfd;
    ProcessFacts now;
    if (sys::open_pidfd(process.pid, pidfd) < 0 || !read_facts(process.pid, now)) return;
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
        for (const ProcessFacts& facts : all_processes())
            if (!facts.dead && facts.parent == ::getpid()) ::kill(facts.pid, SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
        ::sigtimedwait(&child_signals, nullptr, &kMostWait);  // blocked already, for the event loop
    }
}

}  // namespace sandpipe::launcher
