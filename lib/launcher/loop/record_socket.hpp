#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "launcher/loop/event_loop.hpp"

namespace sandpipe::launcher {

/// A command's record socket, as its init has it. The host may be busy for seconds, and a command can fill the socket
/// on purpose; what does not fit waits here, in order, and nobody waits for it.
class RecordSocket {
  public:
    explicit RecordSocket(EventLoop& loop) noexcept : loop_(loop) {}

    void open(unique_fd socket) noexcept { socket_ = std::move(socket); }
    /// `on_event`: there is something to read, or room to `flush` into. 0 or -errno.
    [[nodiscard]] int watch(EventLoop::Callback on_event) { return loop_.add(socket_.get(), std::move(on_event)); }
    /// Nothing more is said or heard here.
    void close();
    /// False also once the host has gone.
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(socket_); }
    [[nodiscard]] int get() const noexcept { return socket_.get(); }

    void send(std::string message);
    void flush();
    [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
    /// So much waits that what can be left out should be.
    [[nodiscard]] bool is_crowded() const noexcept { return unsent_bytes_ > kCrowdedBytes; }

  private:
    static constexpr std::size_t kCrowdedBytes = 256 * 1024;

    EventLoop& loop_;
    unique_fd socket_;
    std::deque<std::string> unsent_;
    std::size_t unsent_bytes_ = 0;
    bool waits_for_room_ = false;
};

}  // namespace sandpipe::launcher
