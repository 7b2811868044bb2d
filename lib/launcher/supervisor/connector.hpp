#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "launcher/supervisor/blocking_calls.hpp"
#include "launcher/supervisor/socket_address.hpp"

namespace sandpipe::launcher {

/// Connects callers' own sockets for them.
class Connector {
  public:
    /// `socket` is the caller's, by another descriptor; `target` what `address` leads to, kept open until the end.
    struct Request {
        std::uint64_t cookie = 0;  ///< the call that waits
        pid_t thread = 0;          ///< its caller
        unique_fd socket;
        unique_fd target;
        SocketAddress address;
        std::function<int()> check = nullptr;  ///< once it is connected: 0, or the -errno with which it is cut off
    };
    static constexpr int kLater = 1;
    /// 0 or -errno as connect(2), or kLater: `on_child` tells.
    [[nodiscard]] int connect(Request request);

    /// A child of this process has been reaped. True if it was one of ours: `done` gets the cookie and 0 or -errno.
    using Done = std::function<void(std::uint64_t cookie, int error)>;
    bool on_child(pid_t pid, const Done& done);
    [[nodiscard]] const BlockingCalls& calls() const noexcept { return calls_; }
    /// Ends the waiting for calls that nobody waits for any more.
    void end_unless(const std::function<bool(std::uint64_t cookie)>& still_waiting) const {
        calls_.end_unless(still_waiting);
    }

  private:
    static int settle(const Request& request, int error, bool connected);

    BlockingCalls calls_;
};

}  // namespace sandpipe::launcher
