#include "launcher/kernel/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "sys/descriptors.hpp"

namespace sandpipe::launcher {

int read_proc_file(pid_t pid, const char* name, std::string& content) {
    unique_fd file;
    content.clear();
    const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
    if (const int error = sys::open_file(path.c_str(), O_RDONLY, 0, file); error < 0) return error;
    char buffer[4096];
    ssize_t got;
    while ((got = ::read(file.get(), buffer, sizeof buffer)) > 0)
        content.append(buffer, static_cast<std::size_t>(got));
    return got < 0 ? -errno : 0;
}

std::string read_proc_file(pid_t pid, const char* name) {
    std::string content;
    (void)read_proc_file(pid, name, content);  // what was read is what there is
    return content;
}

int read_stat(pid_t pid, ProcessStat& stat) {
    std::string text;
    const int error = read_proc_file(pid, "stat", text);
    if (error < 0) return error == -ENOENT ? -ESRCH : error;
    // The name in parentheses may hold anything, parentheses too: the fields follow the last one.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return -ESRCH;
    unsigned long long start_time = 0;
    constexpr const char* kFields = " %c %d %d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    const int read = std::sscanf(text.c_str() + name_end + 1, kFields, &stat.state, &stat.parent, &stat.group,
                                 &stat.flags, &start_time);
    stat.start_time = start_time;
    return read == 5 ? 0 : -ESRCH;
}

}  // namespace sandpipe::launcher
