#include "pipe_drain.hpp"

#include <algorithm>

namespace sandpipe::detail {

void PipeDrain::on_exit(const std::array<std::uint64_t, 2>& own, Clock::time_point now) noexcept {
    exited_ = true;
    own_ = own;
    if (paused_) paused_ = now;  // what was paused before does not put the end off
    idle_until_ = now + kIdleGrace;
    at_most_ = now + kMostGrace;
}

void PipeDrain::on_data(std::size_t pipe, std::uint64_t bytes, Clock::time_point now) noexcept {
    own_[pipe] -= std::min(own_[pipe], bytes);
    idle_until_ = now + kIdleGrace;
}

void PipeDrain::on_pause(Clock::time_point now) noexcept {
    if (!paused_) paused_ = now;
}

void PipeDrain::on_resume(Clock::time_point now) noexcept {
    if (!paused_) return;
    const auto pause = now - *paused_;
    idle_until_ += pause;
    at_most_ += pause;
    paused_.reset();
}

PipeDrain::Clock::time_point PipeDrain::deadline() const noexcept { return std::min(idle_until_, at_most_); }

bool PipeDrain::settled(Clock::time_point now) const noexcept {
    if (!exited_) return false;
    if (!held_open()) return true;
    const bool own_left = (open_[0] && own_[0] > 0) || (open_[1] && own_[1] > 0);
    return !paused_ && !own_left && now >= deadline();
}

std::optional<PipeDrain::Clock::time_point> PipeDrain::wake_at() const noexcept {
    if (!exited_ || paused_ || !held_open()) return {};
    return deadline();
}

}  // namespace sandpipe::detail
