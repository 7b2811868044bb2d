#include "processes.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "launcher/child.hpp"
#include "launcher/command_mark.hpp"
#include "launcher/proc_file.hpp"
#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

struct Process {
    pid_t pid = 0;
    ProcessStat stat;
};

/// What lives of a plain command.
struct Tree {
    std::vector<pid_t> in_group;
    std::vector<pid_t> escaped;  // left the group, and carries the mark
};

std::vector<Process> all_processes() {
    std::vector<Process> result;
    DIR* directory = ::opendir("/proc");
    if (!directory) return result;
    while (const dirent* entry = ::readdir(directory)) {
        const int pid = std::atoi(entry->d_name);
        Process process;
        process.pid = pid;
        if (pid > 0 && read_stat(pid, process.stat)) result.push_back(process);
    }
    ::closedir(directory);
    return result;
}

void signal_escaped(pid_t pid, rlim_t mark, int signal) {
    unique_fd pidfd;
    if (sys::open_pidfd(pid, pidfd) < 0 || !carries_mark(pid, mark)) return;
    sys::raw_syscall(SYS_pidfd_send_signal, pidfd.get(), signal, 0, 0);
}

std::vector<Process> descendants_among(const std::vector<Process>& all) {
    std::unordered_multimap<pid_t, const Process*> children;
    for (const Process& process : all) children.emplace(process.stat.parent, &process);
    std::vector<Process> found;
    std::unordered_set<pid_t> seen{::getpid()};
    std::vector<pid_t> open{::getpid()};
    while (!open.empty()) {
        const auto [first, last] = children.equal_range(open.back());
        open.pop_back();
        for (auto child = first; child != last; ++child) {
            if (!seen.insert(child->second->pid).second) continue;
            found.push_back(*child->second);
            open.push_back(child->second->pid);
        }
    }
    return found;
}

/// One pass over /proc is no snapshot: a process whose parent ended meanwhile can seem to belong to nobody. The
/// group shows it all the same, and for the others the caller looks again.
Tree look_at_tree(pid_t group, rlim_t mark) {
    const std::vector<Process> all = all_processes();
    Tree tree;
    for (const Process& process : all)
        if (!process.stat.dead() && process.stat.group == group) tree.in_group.push_back(process.pid);
    for (const Process& process : descendants_among(all))
        if (!process.stat.dead() && process.stat.group != group && carries_mark(process.pid, mark))
            tree.escaped.push_back(process.pid);
    return tree;
}

}  // namespace

std::size_t count_tree(pid_t group, rlim_t mark) {
    for (int look = 0; look < 2; ++look) {
        const Tree tree = look_at_tree(group, mark);
        if (const std::size_t count = tree.in_group.size() + tree.escaped.size(); count > 0) return count;
    }
    return 0;
}

void signal_tree(pid_t group, rlim_t mark, int signal) {
    const Tree tree = look_at_tree(group, mark);
    // Between clone and setpgid the leader is not in its group yet.
    if (::kill(-group, signal) < 0 && errno == ESRCH) ::kill(group, signal);
    for (const pid_t pid : tree.escaped) signal_escaped(pid, mark, signal);
}

void end_all_descendants() {
    sigset_t child_signals;
    sigemptyset(&child_signals);
    sigaddset(&child_signals, SIGCHLD);
    constexpr timespec kMostWait{0, 100'000'000};
    for (const std::int64_t end = monotonic_ns() + 1'000'000'000; monotonic_ns() < end;) {
        // Our own children cannot be given another number before we reap them; what is below them becomes
        // ours.
        for (const Process& process : descendants_among(all_processes()))
            if (!process.stat.dead() && process.stat.parent == ::getpid()) ::kill(process.pid, SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
        ::sigtimedwait(&child_signals, nullptr, &kMostWait);  // blocked already, for the event loop
    }
}

}  // namespace sandpipe::launcher
