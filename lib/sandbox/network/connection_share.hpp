#pragma once

#include <cstddef>
#include <functional>

namespace sandpipe {

/// One session's part of the connections that the proxies of this process serve at once. Together they leave a quarter
/// of the process's descriptors to the host, and no part takes more than it leaves to the others, so that whoever comes
/// late, or next to a crowd, is served too. Thread-safe.
class ConnectionShare {
  public:
    /// At most `most`. `room` runs, on any thread, when another part has given something back and this one lacked it.
    ConnectionShare(std::size_t most, std::function<void()> room);
    ConnectionShare(const ConnectionShare&) = delete;
    ConnectionShare& operator=(const ConnectionShare&) = delete;
    /// Gives everything back.
    ~ConnectionShare();

    /// Whether one more may be taken. A part that has nothing always may.
    [[nodiscard]] bool has_room();
    void take();
    void give_back();

  private:
    void tell_others();

    const std::size_t most_;
    const std::function<void()> room_;
    std::size_t own_ = 0;
    bool lacks_room_ = false;
};

/// The rule: `total` are taken by all, `own` of them by who asks, and `budget` is what all may have.
[[nodiscard]] constexpr bool leaves_enough(std::size_t own, std::size_t total, std::size_t budget) noexcept {
    return own == 0 || (total < budget && own < budget - total);
}

}  // namespace sandpipe
