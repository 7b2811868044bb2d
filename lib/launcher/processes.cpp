#include "processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "launcher/child.hpp"
#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"
#include "wire/messages.hpp"

namespace sandpipe::launcher {
namespace {

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
    unsigned long long start_time = 0;
    constexpr const char* kFields = " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    if (std::sscanf(stat.c_str() + name_end + 1, kFields, &state, &facts.parent, &facts.group, &start_time) != 4)
        return false;
    facts.pid = pid;
    facts.start_time = start_time;
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

std::vector<std::string> marks_of(pid_t pid) {
    std::vector<std::string> marks;
    const std::string environment = read_file(proc_path(pid, "environ"));
    for (std::string_view rest = environment; !rest.empty();) {
        const std::string_view entry = rest.substr(0, rest.find('\0'));
        if (entry.starts_with(wire::kMarkName)) marks.emplace_back(entry);
        rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    }
    return marks;
}

}  // namespace

ProcessTable look_at_processes(const std::unordered_set<pid_t>& leaders) {
    return {all_processes(), ::getpid(), leaders, marks_of};
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
