#include "process/stop_escalation.hpp"

#include <gtest/gtest.h>

namespace sandpipe::detail {
namespace {

using namespace std::chrono_literals;
using Act = StopEscalation::Act;

const StopEscalation::Clock::time_point kNow{1000s};

StopPolicy policy() {
    StopPolicy made;
    made.grace = 3s;
    made.abandon_after = 5s;
    return made;
}

TEST(StopEscalation, SignalThenKillThenGivingUp) {
    StopEscalation stop(policy());
    EXPECT_FALSE(stop.requested());
    const auto first = stop.request(Cause::timed_out, kNow);
    EXPECT_EQ(first.act, Act::signal);
    EXPECT_EQ(first.wake_at, kNow + 3s);
    EXPECT_TRUE(stop.requested());
    EXPECT_FALSE(stop.forced());
    const auto second = stop.on_time(kNow + 3s);
    EXPECT_EQ(second.act, Act::kill);
    EXPECT_EQ(second.wake_at, kNow + 8s);
    EXPECT_TRUE(stop.forced());
    const auto third = stop.on_time(kNow + 8s);
    EXPECT_EQ(third.act, Act::abandon);
    EXPECT_FALSE(third.wake_at);
    EXPECT_EQ(stop.on_time(kNow + 20s).act, Act::none);
    EXPECT_EQ(stop.cause(), Cause::timed_out);
}

TEST(StopEscalation, WakingEarlyWaitsOn) {
    StopEscalation stop(policy());
    EXPECT_EQ(stop.on_time(kNow).act, Act::none) << "before anybody asked";
    (void)stop.request(Cause::cancelled, kNow);
    const auto early = stop.on_time(kNow + 2999ms);
    EXPECT_EQ(early.act, Act::none);
    EXPECT_EQ(early.wake_at, kNow + 3s);
}

TEST(StopEscalation, TheSecondWishKillsOnceOnly) {
    StopEscalation stop(policy());
    (void)stop.request(Cause::cancelled, kNow);
    const auto second = stop.request(Cause::cancelled, kNow + 1s);
    EXPECT_EQ(second.act, Act::kill);
    EXPECT_EQ(second.wake_at, kNow + 6s);
    const auto third = stop.request(Cause::cancelled, kNow + 2s);
    EXPECT_EQ(third.act, Act::none);
    EXPECT_EQ(third.wake_at, kNow + 6s) << "asking again does not put the end off";
}

TEST(StopEscalation, ACancellationBehindATimeoutKills) {
    StopEscalation stop(policy());
    (void)stop.request(Cause::timed_out, kNow);
    EXPECT_EQ(stop.request(Cause::cancelled, kNow + 1s).act, Act::kill);
    EXPECT_EQ(stop.cause(), Cause::timed_out) << "the first cause stays";
}

TEST(StopEscalation, ATimeoutOrAFullOutputBehindAnotherCauseChangesNothing) {
    for (const Cause later : {Cause::timed_out, Cause::output_limit}) {
        StopEscalation stop(policy());
        (void)stop.request(Cause::cancelled, kNow);
        const auto step = stop.request(later, kNow + 1s);
        EXPECT_EQ(step.act, Act::none);
        EXPECT_EQ(step.wake_at, kNow + 3s);
        EXPECT_EQ(stop.cause(), Cause::cancelled);
        EXPECT_FALSE(stop.forced());
    }
}

TEST(StopEscalation, NoGraceMeansKill) {
    StopPolicy at_once = policy();
    at_once.kill_at_once = true;
    StopPolicy none = policy();
    none.grace = 0s;
    for (const StopPolicy& made : {at_once, none}) {
        StopEscalation stop(made);
        const auto step = stop.request(Cause::output_limit, kNow);
        EXPECT_EQ(step.act, Act::kill);
        EXPECT_EQ(step.wake_at, kNow + 5s);
        EXPECT_TRUE(stop.forced());
    }
}

}  // namespace
}  // namespace sandpipe::detail
