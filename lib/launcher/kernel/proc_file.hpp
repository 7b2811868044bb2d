#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace sandpipe::launcher {

/// /proc/PID/`name` as it is now. 0 or -errno.
[[nodiscard]] int read_proc_file(pid_t pid, const char* name, std::string& content);
/// The same; "" where it cannot be read.
[[nodiscard]] std::string read_proc_file(pid_t pid, const char* name);

/// /proc/PID/stat (proc(5)), as far as it matters here.
struct ProcessStat {
    char state = 0;
    pid_t parent = 0;
    pid_t group = 0;
    unsigned flags = 0;  ///< PF_..., include/linux/sched.h
    std::uint64_t start_time = 0;  ///< in ticks since boot: with the number it names a process for good

    [[nodiscard]] bool dead() const noexcept { return state == 'Z' || state == 'X'; }
};

/// 0 or -errno; -ESRCH for a process that has gone.
[[nodiscard]] int read_stat(pid_t pid, ProcessStat& stat);

}  // namespace sandpipe::launcher
