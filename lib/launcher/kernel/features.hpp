#pragma once

#include <cstddef>

#include "wire/feature_limits.hpp"

namespace sandpipe::launcher {

/// What of this kernel sandpipe uses where it is there, as far as a command could use it: found by trying, and
/// lowered by `lower_features`.
struct Features {
    int landlock_abi = 0;        ///< 0: none
    int filter_error = 0;        ///< errno of why no filter of system calls can be had at all
    int listener_error = 0;  ///< errno of why no supervisor can be had; EBUSY: a filter above has a listener already
    bool addfd_send = false;     ///< a new descriptor ends its call in one step (5.14)
    bool wait_killable = false;  ///< a call that is being answered is interrupted by death only (5.19)
};

/// Probed by the first question, once for this process and those that it forks afterwards. Forks; not for the children
/// that share memory.
[[nodiscard]] const Features& features();

/// Before the first question.
void lower_features(const wire::FeatureLimits& limits) noexcept;
/// How large this kernel's notifications are, in bytes.
[[nodiscard]] std::size_t notification_size() noexcept;
/// close_range(2) may be used. Never probes.
[[nodiscard]] bool may_use_close_range() noexcept;

}  // namespace sandpipe::launcher
