#include "launcher/command/command_mark.hpp"

#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/kernel/proc_file.hpp"

namespace sandpipe::launcher {
namespace {

// Below what other programs would set, and far from "unlimited".
constexpr rlim_t kMarks = rlim_t{1} << 60;

/// Where the counting starts, so that launchers that run side by side or within each other do not meet.
rlim_t first_mark() {
    std::uint64_t random = 0;
    // A pool that is not ready gives 0, which is as unique within this launcher.
    (void)::getrandom(&random, sizeof random, GRND_NONBLOCK);
    return random;
}

}  // namespace

rlimit fresh_mark() {
    static rlim_t next = first_mark();
    rlimit limit{};
    ::getrlimit(RLIMIT_LOCKS, &limit);
    limit.rlim_cur = 1 + next++ % std::clamp<rlim_t>(limit.rlim_max, 1, kMarks);
    return limit;
}

int read_mark(pid_t pid, rlim_t& mark) {
    constexpr std::string_view kLine = "\nMax file locks";
    mark = 0;
    std::string limits;
    if (const int error = read_proc_file(pid, "limits", limits); error < 0) return error;
    const std::size_t line = limits.find(kLine);
    if (line == std::string::npos) return 0;
    const std::size_t value = std::min(limits.find_first_not_of(' ', line + kLine.size()), limits.size());
    rlim_t soft = 0;
    const auto parsed = std::from_chars(limits.data() + value, limits.data() + limits.size(), soft);
    if (parsed.ec == std::errc{}) mark = soft;  // else "unlimited"
    return 0;
}

}  // namespace sandpipe::launcher
