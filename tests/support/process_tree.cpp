#include "support/process_tree.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "support/host_snapshot.hpp"

namespace fs = std::filesystem;

namespace sandpipe::testing {
namespace {

std::vector<pid_t> all_processes() {
    std::vector<pid_t> pids;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        pid_t pid = 0;
        const auto end = std::from_chars(name.data(), name.data() + name.size(), pid).ptr;
        if (end == name.data() + name.size()) pids.push_back(pid);
    }
    std::sort(pids.begin(), pids.end());
    return pids;
}

pid_t parent_of(pid_t pid) {
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return -1;
    std::istringstream rest(stat.substr(name_end + 1));
    std::string state;
    pid_t parent = -1;
    rest >> state >> parent;
    return parent;
}

/// The processes that `host` has a pidfd of and that still live.
std::vector<pid_t> named_by_pidfds(pid_t host) {
    std::vector<pid_t> named;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(host) + "/fdinfo", error)) {
        std::istringstream lines(read_file(entry.path().string()));
        pid_t pid = 0;
        for (std::string word; lines >> word;)
            if (word == "Pid:" && lines >> pid && pid > 0 &&
                std::find(named.begin(), named.end(), pid) == named.end())
                named.push_back(pid);
    }
    return named;
}

void add_all_below(pid_t parent, std::vector<pid_t>& found) {
    for (const pid_t child : children_of(parent)) {
        found.push_back(child);
        add_all_below(child, found);
    }
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    for (const pid_t pid : all_processes())
        if (parent_of(pid) == parent) children.push_back(pid);
    return children;
}

std::vector<pid_t> launchers_of(pid_t host) {
    std::vector<pid_t> named = named_by_pidfds(host);
    std::vector<pid_t> inner;
    for (const pid_t pid : named) add_all_below(pid, inner);
    std::erase_if(named, [&](pid_t pid) {
        return pid == host || std::find(inner.begin(), inner.end(), pid) != inner.end();
    });
    return named;
}

std::vector<pid_t> descendants_of(pid_t parent) {
    std::vector<pid_t> found;
    for (const pid_t launcher : launchers_of(parent)) {
        found.push_back(launcher);
        add_all_below(launcher, found);
    }
    add_all_below(parent, found);
    return found;
}

std::vector<pid_t> processes_with(const std::string& text) {
    std::vector<pid_t> found;
    for (const pid_t pid : all_processes())
        if (pid != ::getpid() &&
            read_file("/proc/" + std::to_string(pid) + "/cmdline").find(text) != std::string::npos)
            found.push_back(pid);
    return found;
}

bool all_end_within(const std::vector<pid_t>& pids, std::chrono::milliseconds time) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    bool all = true;
    for (const pid_t pid : pids) {
        const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
        if (fd < 0) continue;
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd ended{fd, POLLIN, 0};
        all = ::poll(&ended, 1, static_cast<int>(std::max<long>(left.count(), 0))) == 1 && all;
        ::close(fd);
    }
    return all;
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

std::string unique_seconds() {
    static int count = 0;
    return "600." + std::to_string(::getpid()) + "00" + std::to_string(++count);
}

}  // namespace sandpipe::testing
