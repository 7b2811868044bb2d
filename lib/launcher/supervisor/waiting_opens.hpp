#pragma once

#include <sandpipe/unique_fd.hpp>

#include <linux/seccomp.h>

#include <cstdint>
#include <functional>

#include "launcher/supervisor/blocking_calls.hpp"
#include "launcher/supervisor/supervised_call.hpp"

namespace sandpipe::launcher {

/// Opens FIFOs for callers that wait for a reader (fifo(7)).
class WaitingOpens {
  public:
    /// `fifo` is a handle of what the call was judged to open. 0 or -errno.
    [[nodiscard]] int start(const seccomp_notif& notification, const Call& call, unique_fd fifo);

    /// A child of this process has been reaped. True if it was one of ours: `done` gets the open file, or -errno.
    using Done = std::function<void(std::uint64_t cookie, const Call& call, unique_fd file, int error)>;
    bool on_child(pid_t pid, const Done& done);
    [[nodiscard]] const BlockingCalls& calls() const noexcept { return opens_; }
    /// Ends the waiting for calls that nobody waits for any more.
    void end_unless(const std::function<bool(std::uint64_t cookie)>& still_waiting) const {
        opens_.end_unless(still_waiting);
    }
    /// Whether this process may have a descriptor that it does not know of, because a child was killed just when it
    /// got one.
    [[nodiscard]] bool is_spoiled() const noexcept { return spoiled_; }

  private:
    BlockingCalls opens_;
    bool spoiled_ = false;
};

}  // namespace sandpipe::launcher
