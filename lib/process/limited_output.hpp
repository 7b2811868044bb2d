#pragma once

#include <sandpipe/invocation.hpp>
#include <sandpipe/result.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace sandpipe::detail {

/// Counts one output stream and keeps of it what its limit allows, exact to the byte. Pure.
class LimitedOutput {
  public:
    explicit LimitedOutput(std::optional<OutputLimit> limit) : limit_(limit) {}

    /// Takes note of what was read and returns the part that lies within the limit.
    [[nodiscard]] std::string_view admit(std::string_view data);
    /// As admit, and keeps it.
    void keep(std::string_view data);

    /// The limit says stop, and more than it came; or would have come with so many bytes more.
    [[nodiscard]] bool overflowed(std::uint64_t more = 0) const noexcept;
    /// What was kept: all, or the first `bytes`, or the first and the last half of `bytes`.
    [[nodiscard]] std::string take();
    [[nodiscard]] StreamFacts facts() const noexcept;

  private:
    [[nodiscard]] std::uint64_t head_room() const noexcept;
    void keep_tail(std::string_view data);

    std::optional<OutputLimit> limit_;
    std::uint64_t bytes_ = 0;
    std::uint64_t admitted_ = 0;
    std::uint64_t tail_kept_ = 0;
    std::string head_;
    std::string tail_;  // at most twice the tail's share, cut when it is full
};

}  // namespace sandpipe::detail
