#pragma once

#include <sandpipe/end_status.hpp>

#include <linux/filter.h>

namespace sandpipe::launcher {

/// What a command's own task does to itself between clone and execve. Plain data, laid out by the init.
struct ConfineSteps {
    int inner_ruleset = -1;  ///< -1: no Landlock on this kernel
    sock_fprog filter{};     ///< len 0: no filter
    bool wait_killable = false;
    bool notify = false;  ///< the filter has notifications; the listener comes back
};

struct ConfineResult {
    Stage stage = Stage::seccomp;  ///< where it failed
    int error = 0;                 ///< 0: confined
    int listener = -1;             ///< the notification descriptor, CLOEXEC
};

/// Drops the bounding set, then all capabilities (capabilities(7): in the other order the first is EPERM; an
/// init has emptied it already), sets no_new_privs, enters the inner Landlock domain and installs the filter.
/// Runs in a child that shares its init's memory: raw system calls only, no allocation, no errno.
[[nodiscard]] ConfineResult confine_self(const ConfineSteps& steps) noexcept;

}  // namespace sandpipe::launcher
