#include "processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "launcher/child.hpp"
#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

/// One line of /proc/PID/stat, as far as it matters here.
struct ProcessFacts {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    bool dead = false;  // a zombie
};

/// What lives of a plain command.
struct Tree {
    std::vector<pid_t> in_group;
    std::vector<pid_t> escaped;  // left the group, and carries the mark
};

std::string read_file(const std::string& path) {
    unique_fd file;
    std::string content;
    if (sys::open_file(path.c_str(), O_RDONLY, 0, file) < 0) return content;
    char buffer[4096];
    for (ssize_t got; (got = ::read(file.get(), buffer, sizeof buffer)) > 0;)
        content.append(buffer, static_cast<std::size_t>(got));
    return content;
}

std::string proc_path(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

bool read_facts(pid_t pid, ProcessFacts& facts) {
    const std::string stat = read_file(proc_path(pid, "stat"));
    // The name in parentheses may hold anything, parentheses too: the fields follow the last one.
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return false;
    char state = 0;
    if (std::sscanf(stat.c_str() + name_end + 1, " %c %d %d", &state, &facts.parent, &facts.group) != 3)
        return false;
    facts.pid = pid;
    facts.dead = state == 'Z' || state == 'X';
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

bool has_mark(pid_t pid, std::string_view mark) {
    if (mark.empty()) return false;
    std::string environment = read_file(proc_path(pid, "environ"));
    environment.insert(environment.begin(), '\0');
    const std::string wanted = std::string(1, '\0').append(mark).append(1, '\0');
    return environment.find(wanted) != std::string::npos;
}

void signal_escaped(pid_t pid, std::string_view mark, int signal) {
    unique_fd pidfd;
    if (sys::open_pidfd(pid, pidfd) < 0 || !has_mark(pid, mark)) return;
    sys::raw_syscall(SYS_pidfd_send_signal, pidfd.get(), signal, 0, 0);
}

std::vector<ProcessFacts> descendants_among(const std::vector<ProcessFacts>& all) {
    std::unordered_multimap<pid_t, const ProcessFacts*> children;
    for (const ProcessFacts& facts : all) children.emplace(facts.parent, &facts);
    std::vector<ProcessFacts> found;
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
Tree look_at_tree(pid_t group, std::string_view mark) {
    const std::vector<ProcessFacts> all = all_processes();
    Tree tree;
    for (const ProcessFacts& facts : all)
        if (!facts.dead && facts.group == group) tree.in_group.push_back(facts.pid);
    for (const ProcessFacts& facts : descendants_among(all))
        if (!facts.dead && facts.group != group && has_mark(facts.pid, mark)) tree.escaped.push_back(facts.pid);
    return tree;
}

}  // namespace

std::size_t count_tree(pid_t group, std::string_view mark) {
    for (int look = 0; look < 2; ++look) {
        const Tree tree = look_at_tree(group, mark);
        if (const std::size_t count = tree.in_group.size() + tree.escaped.size(); count > 0) return count;
    }
    return 0;
}

void signal_tree(pid_t group, std::string_view mark, int signal) {
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
        for (const ProcessFacts& facts : descendants_among(all_processes()))
            if (!facts.dead && facts.parent == ::getpid()) ::kill(facts.pid, SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
        ::sigtimedwait(&child_signals, nullptr, &kMostWait);  // blocked already, for the event loop
    }
}

}  // namespace sandpipe::launcher
