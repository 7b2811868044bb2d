#pragma once

#include <linux/filter.h>

#include <vector>

#include "launcher/failure.hpp"

namespace sandpipe::launcher {

/// Which of the kernel's answers a filter needs.
enum class Supervision : bool { none, notified };

/// Builds the commands' seccomp program (seccomp(2)): refuses what no command may do and, if `notified`,
/// hands the calls of `notified_calls()` to the supervisor.
[[nodiscard]] Outcome make_filter(Supervision supervision, std::vector<sock_filter>& filter);

/// What this kernel knows about notifications, found without installing anything.
struct NotificationSupport {
    bool listener = false;
    bool wait_killable = false;
};
[[nodiscard]] NotificationSupport probe_notifications() noexcept;

}  // namespace sandpipe::launcher
