#include <sandpipe/end_status.hpp>

#include <string.h>  // NOLINT: sigabbrev_np and strerrorname_np are GNU's

#include <array>
#include <cstddef>

namespace sandpipe {
namespace {

constexpr std::array<std::string_view, 18> kStages{
    "queue",       "wrap",         "launcher",  "resources", "cwd",     "program",
    "interpreter", "permission",   "arguments", "input",     "output",  "namespaces",
    "mounts",      "capabilities", "landlock",  "seccomp",   "network", "options",
};
static_assert(kStages.size() == static_cast<std::size_t>(Stage::options), "a name for each stage, in order");

constexpr std::array<std::string_view, 6> kCauses{
    "finished", "timed_out", "cancelled", "output_limit", "not_started", "lost",
};
static_assert(kCauses.size() == static_cast<std::size_t>(Cause::lost) + 1, "a name for each cause, in order");

}  // namespace

std::string_view to_string(Stage stage) noexcept {
    const auto index = static_cast<std::size_t>(stage) - 1;
    return index < kStages.size() ? kStages[index] : "unknown";
}

std::string_view to_string(Cause cause) noexcept {
    const auto index = static_cast<std::size_t>(cause);
    return index < kCauses.size() ? kCauses[index] : "unknown";
}

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    return "SIG" + (name ? std::string(name) : std::to_string(signal));
}

std::string errno_name(int error) {
    if (error == 0) return {};
    const char* name = strerrorname_np(error);
    return name ? std::string(name) : "E" + std::to_string(error);
}

}  // namespace sandpipe
