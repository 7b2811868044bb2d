#pragma once

#include <linux/filter.h>

#include <cstdint>

#include <vector>

#include "launcher/failure.hpp"

namespace sandpipe::launcher {

/// Which of the kernel's answers a filter needs; the last one restricts execution too.
enum class Supervision : std::uint8_t { none, notified, with_execution };

/// Builds the commands' seccomp program (seccomp(2)): refuses what no command may do and, unless `none`, hands the
/// calls of `notified_calls()` to the supervisor. `with_execution` adds those of `notified_execution()`, and refuses
/// files that exist in memory only: they have no place that could be judged.
[[nodiscard]] Outcome make_filter(Supervision supervision, std::vector<sock_filter>& filter);

/// What this kernel knows about notifications, found without installing anything.
struct NotificationSupport {
    bool listener = false;
    bool wait_killable = false;
};
[[nodiscard]] NotificationSupport probe_notifications() noexcept;

}  // namespace sandpipe::launcher
