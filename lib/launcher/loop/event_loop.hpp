#pragma once

#include <sandpipe/unique_fd.hpp>

#include <functional>
#include <unordered_map>

namespace sandpipe::launcher {

/// Waits for descriptors to become readable and calls back. Single-threaded. A callback may add and remove
/// descriptors, its own too, and must bear being called when there is nothing to read: after a close and an
/// open in one round, an event of the old descriptor can reach the callback of the new one.
class EventLoop {
  public:
    using Callback = std::function<void()>;

    /// 0 or -errno.
    [[nodiscard]] int open();
    [[nodiscard]] int add(int fd, Callback callback);
    /// From now on `fd`'s callback is called, or not, when it is writable too.
    [[nodiscard]] int when_writable(int fd, bool wanted);
    /// One descriptor that is waited for without the epoll set, and served before all others. What makes it readable may
    /// ask that its reader run on the same processor at once (SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP): poll(2) passes that
    /// on, an epoll set does not. `callback` is called only when there is something to read; once the other side has
    /// hung up it is not waited for any more.
    void add_direct(int fd, Callback callback);
    /// Must precede the close of `fd`.
    void remove(int fd);
    /// One round: waits at most `timeout_ms` (-1: for ever) and calls back. 0 or -errno.
    [[nodiscard]] int run_once(int timeout_ms);

  private:
    [[nodiscard]] int wait_for_both(int timeout_ms);

    unique_fd epoll_;
    int direct_ = -1;
    Callback on_direct_;
    std::unordered_map<int, Callback> callbacks_;
};

/// Blocks SIGCHLD for this process and gives a descriptor that is readable when children ended. 0 or -errno.
[[nodiscard]] int open_child_signals(unique_fd& signals);
/// Empties it: one event may stand for many children.
void drain_child_signals(int signals) noexcept;

}  // namespace sandpipe::launcher
