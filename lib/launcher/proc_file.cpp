#include "proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "sys/descriptors.hpp"

namespace sandpipe::launcher {

std::string read_proc_file(pid_t pid, const char* name) {
    unique_fd file;
    std::string content;
    const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
    if (sys::open_file(path.c_str(), O_RDONLY, 0, file) < 0) return content;
    char buffer[4096];
    for (ssize_t got; (got = ::read(file.get(), buffer, sizeof buffer)) > 0;)
        content.append(buffer, static_cast<std::size_t>(got));
    return content;
}

bool read_stat(pid_t pid, ProcessStat& stat) {
    const std::string text = read_proc_file(pid, "stat");
    // The name in parentheses may hold anything, parentheses too: the fields follow the last one.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return false;
    unsigned long long start_time = 0;
    constexpr const char* kFields = " %c %d %d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    const int read = std::sscanf(text.c_str() + name_end + 1, kFields, &stat.state, &stat.parent, &stat.group,
                                 &stat.flags, &start_time);
    stat.start_time = start_time;
    return read == 5;
}

}  // namespace sandpipe::launcher
