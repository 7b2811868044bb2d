#pragma once

#include <sandpipe/end_status.hpp>
#include <sandpipe/invocation.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace sandpipe::detail {

/// Decides how a command is ended: signal, grace, SIGKILL, and giving up on the kernel. Pure; the owner
/// obeys.
class StopEscalation {
  public:
    using Clock = std::chrono::steady_clock;
    enum class Act : std::uint8_t {
        none,
        signal,   ///< send `StopPolicy::signal` to the tree
        kill,     ///< send SIGKILL to the tree
        abandon,  ///< the kernel does not finish it: settle without its end
    };
    struct Step {
        Act act = Act::none;
        std::optional<Clock::time_point> wake_at;  ///< when to call `on_time` again
    };

    explicit StopEscalation(const StopPolicy& policy) : policy_(policy) {}

    /// Somebody wants the end. The first says why; a second one goes to SIGKILL at once, except that a
    /// timeout or a full output behind another cause changes nothing.
    [[nodiscard]] Step request(Cause cause, Clock::time_point now);
    [[nodiscard]] Step on_time(Clock::time_point now);

    [[nodiscard]] bool requested() const noexcept { return phase_ != Phase::idle; }
    /// The first reason; meaningful once requested.
    [[nodiscard]] Cause cause() const noexcept { return cause_; }
    [[nodiscard]] bool forced() const noexcept { return forced_; }
    /// It was given up: SIGKILL did not end it in time.
    [[nodiscard]] bool abandoned() const noexcept { return phase_ == Phase::abandoned; }

  private:
    enum class Phase : std::uint8_t { idle, grace, killed, abandoned };

    Step kill(Clock::time_point now);

    StopPolicy policy_;
    Phase phase_ = Phase::idle;
    Cause cause_ = Cause::finished;
    bool forced_ = false;
    Clock::time_point next_{};
};

}  // namespace sandpipe::detail
