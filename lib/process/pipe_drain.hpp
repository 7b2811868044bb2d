#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sandpipe::detail {

/// Decides when a command whose own process has ended is settled. Pure.
///
/// What the command wrote itself is in the pipes when it ends, and is always read. If a pipe has no end then,
/// something else holds it open: its output is taken while it keeps coming, with an idle grace of 150 ms, for
/// at most 1 s. Time in which nothing is read because the consumer is slow does not count.
class PipeDrain {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kIdleGrace{150};
    static constexpr std::chrono::milliseconds kMostGrace{1000};

    void on_open(std::size_t pipe) noexcept { open_[pipe] = true; }
    void on_end(std::size_t pipe) noexcept { open_[pipe] = false; }
    /// The command has ended; `own` bytes of it are still in each pipe.
    void on_exit(const std::array<std::uint64_t, 2>& own, Clock::time_point now) noexcept;
    void on_data(std::size_t pipe, std::uint64_t bytes, Clock::time_point now) noexcept;
    /// Reading stops because the consumer is slow, or goes on.
    void on_pause(Clock::time_point now) noexcept;
    void on_resume(Clock::time_point now) noexcept;

    [[nodiscard]] bool settled(Clock::time_point now) const noexcept;
    /// When to look again, once the command has ended and while something is open.
    [[nodiscard]] std::optional<Clock::time_point> wake_at() const noexcept;
    [[nodiscard]] bool held_open() const noexcept { return open_[0] || open_[1]; }

  private:
    [[nodiscard]] Clock::time_point deadline() const noexcept;

    std::array<bool, 2> open_{};
    std::array<std::uint64_t, 2> own_{};
    bool exited_ = false;
    std::optional<Clock::time_point> paused_;
    Clock::time_point idle_until_{};
    Clock::time_point at_most_{};
};

}  // namespace sandpipe::detail
