#pragma once

#include <sandpipe/denial.hpp>

#include <cstdint>
#include <mutex>
#include <optional>

#include "process/completion.hpp"

namespace sandpipe::detail {

/// The ends of a TCP connection over IPv4, as the process that made it has them.
struct SocketEnds {
    std::uint32_t address = 0;  ///< its own, in network order
    std::uint16_t port = 0;
    std::uint16_t peer_port = 0;
};

/// A connection whose command is looked for. Several may be asked, and it is that of the one whose init finds the
/// socket in one of its processes. If the connection was refused, that one takes the denial. Thread-safe; destroyed
/// unanswered, it destroys who waits.
class SocketSearch {
  public:
    /// `asked`: how many commands will answer. With one there is no doubt, even if its process is gone by then.
    SocketSearch(std::optional<Denial> denial, SocketEnds ends, std::size_t asked, Completion<bool> done)
        : denial_(std::move(denial)), ends_(ends), asked_(asked), open_(asked), done_(std::move(done)) {}

    [[nodiscard]] const std::optional<Denial>& denial() const noexcept { return denial_; }
    [[nodiscard]] const SocketEnds& ends() const noexcept { return ends_; }
    [[nodiscard]] bool is_sole() const noexcept { return asked_ == 1; }

    /// The denial, if there is one, stands in the stream of who asked.
    void found() {
        if (auto done = last_word(true)) done.succeed(true);
    }
    void not_found() {
        if (auto done = last_word(false)) done.succeed(false);
    }
    /// It cannot be asked. A denial has no place there then; without one it may well hold the socket.
    void unanswered() { denial_ ? not_found() : found(); }
    /// Nobody waits for the answer any more.
    void abort() {
        if (auto done = last_word(true)) done.abort();
    }

  private:
    Completion<bool> last_word(bool over) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (open_ > 0) --open_;
        return over || open_ == 0 ? std::exchange(done_, Completion<bool>{}) : Completion<bool>{};
    }

    const std::optional<Denial> denial_;
    const SocketEnds ends_;
    const std::size_t asked_;
    std::mutex mutex_;
    std::size_t open_;
    Completion<bool> done_;
};

}  // namespace sandpipe::detail
