#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "launcher/socket_address.hpp"

namespace sandpipe::launcher {

/// Connects callers' own sockets for them. Where that may block, a child that shares this process's memory and
/// descriptors waits in it, and nobody else has to.
class Connector {
  public:
    Connector();
    Connector(const Connector&) = delete;
    Connector& operator=(const Connector&) = delete;
    ~Connector();

    /// `socket` is the caller's, by another descriptor; `target` what `address` leads to, kept open until the end.
    struct Request {
        std::uint64_t cookie = 0;  ///< the call that waits
        pid_t thread = 0;          ///< its caller
        unique_fd socket;
        unique_fd target;
        SocketAddress address;
    };
    static constexpr int kLater = 1;
    /// 0 or -errno as connect(2), or kLater: `on_child` tells.
    [[nodiscard]] int connect(Request request);

    /// A child of this process has been reaped. True if it was one of ours: `done` gets the cookie and 0 or -errno.
    using Done = std::function<void(std::uint64_t cookie, int error)>;
    bool on_child(pid_t pid, const Done& done);
    /// Somebody waits: `end_interrupted` wants to be called, again and again.
    [[nodiscard]] bool has_waiting() const noexcept { return !works_.empty(); }
    /// Ends the waiting for callers that have a signal to take. Nothing else wakes them: a call whose notification was
    /// received waits for its answer with fatal signals only (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).
    void end_interrupted();
    /// Ends the waiting for calls that nobody waits for any more.
    void end_unless(const std::function<bool(std::uint64_t cookie)>& still_waiting) const;

  private:
    struct Work;
    std::unordered_map<pid_t, std::unique_ptr<Work>> works_;
};

}  // namespace sandpipe::launcher
