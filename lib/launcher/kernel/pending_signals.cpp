#include "launcher/kernel/pending_signals.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/kernel/proc_file.hpp"

namespace sandpipe::launcher {
namespace {

/// Of a line of /proc/PID/status (proc(5)); 0 where it is not there.
std::uint64_t field(std::string_view status, std::string_view name, int base) {
    std::uint64_t value = 0;
    const std::size_t line = status.find(name);
    if (line == std::string_view::npos) return value;
    std::string_view rest = status.substr(line + name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
    return value;
}

}  // namespace

bool has_pending_signal(pid_t thread) {
    const std::string status = read_proc_file(thread, "status");
    std::uint64_t pending = field(status, "\nSigPnd:", 16);
    if (field(status, "\nTgid:", 10) == static_cast<std::uint64_t>(thread)) pending |= field(status, "\nShdPnd:", 16);
    return (pending & ~field(status, "\nSigBlk:", 16)) != 0;
}

}  // namespace sandpipe::launcher
