#include "stop_escalation.hpp"

#include "process/steady_time.hpp"

namespace sandpipe::detail {

StopEscalation::Step StopEscalation::request(Cause cause, Clock::time_point now) {
    if (phase_ == Phase::idle) {
        cause_ = cause;
        if (policy_.kill_at_once || policy_.grace <= policy_.grace.zero()) return kill(now);
        phase_ = Phase::grace;
        next_ = later(now, policy_.grace);
        return {Act::signal, next_};
    }
    const bool asked_again = phase_ == Phase::grace && cause == Cause::cancelled;
    return asked_again ? kill(now) : Step{Act::none, next_};
}

StopEscalation::Step StopEscalation::on_time(Clock::time_point now) {
    if (phase_ == Phase::idle || phase_ == Phase::abandoned) return {};
    if (now < next_) return {Act::none, next_};
    if (phase_ == Phase::grace) return kill(now);
    phase_ = Phase::abandoned;
    return {Act::abandon, {}};
}

StopEscalation::Step StopEscalation::kill(Clock::time_point now) {
    phase_ = Phase::killed;
    forced_ = true;
    next_ = later(now, policy_.abandon_after);
    return {Act::kill, next_};
}

}  // namespace sandpipe::detail
