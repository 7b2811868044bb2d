#include "process/pipe_drain.hpp"

#include <gtest/gtest.h>

namespace sandpipe::detail {
namespace {

using namespace std::chrono_literals;

const PipeDrain::Clock::time_point kExit{1000s};

/// Two open pipes and a command that has ended, with `own` bytes of it in the first.
PipeDrain exited(std::uint64_t own = 0) {
    PipeDrain drain;
    drain.on_open(0);
    drain.on_open(1);
    drain.on_exit({own, 0}, kExit);
    return drain;
}

TEST(PipeDrain, NothingIsSettledBeforeTheExit) {
    PipeDrain drain;
    EXPECT_FALSE(drain.settled(kExit));
    drain.on_open(0);
    drain.on_end(0);
    EXPECT_FALSE(drain.settled(kExit + 1h));
    EXPECT_FALSE(drain.wake_at());
    drain.on_exit({0, 0}, kExit);
    EXPECT_TRUE(drain.settled(kExit));
}

TEST(PipeDrain, WithoutPipesTheExitSettles) {
    PipeDrain drain;
    drain.on_exit({0, 0}, kExit);
    EXPECT_TRUE(drain.settled(kExit));
    EXPECT_FALSE(drain.held_open());
}

TEST(PipeDrain, AllEndsSettleAtOnce) {
    PipeDrain drain = exited();
    drain.on_end(0);
    EXPECT_FALSE(drain.settled(kExit));
    EXPECT_TRUE(drain.held_open());
    drain.on_end(1);
    EXPECT_TRUE(drain.settled(kExit));
    EXPECT_FALSE(drain.held_open());
}

TEST(PipeDrain, AnIdleHolderIsWaitedForOneGrace) {
    const PipeDrain drain = exited();
    EXPECT_EQ(drain.wake_at(), kExit + 150ms);
    EXPECT_FALSE(drain.settled(kExit + 149ms));
    EXPECT_TRUE(drain.settled(kExit + 150ms));
    EXPECT_TRUE(drain.held_open());
}

TEST(PipeDrain, OutputStartsTheGraceAgainUpToOneSecond) {
    PipeDrain drain = exited();
    for (auto at = kExit; at < kExit + 1s; at += 100ms) {
        drain.on_data(1, 1, at);
        EXPECT_FALSE(drain.settled(at + 99ms));
    }
    EXPECT_EQ(drain.wake_at(), kExit + 1s);
    EXPECT_FALSE(drain.settled(kExit + 999ms));
    EXPECT_TRUE(drain.settled(kExit + 1s));
}

TEST(PipeDrain, WhatTheCommandWroteIsReadHoweverLongItTakes) {
    PipeDrain drain = exited(100);
    EXPECT_FALSE(drain.settled(kExit + 1h));
    drain.on_data(0, 99, kExit + 1h);
    EXPECT_FALSE(drain.settled(kExit + 2h));
    drain.on_data(0, 50, kExit + 2h);
    EXPECT_TRUE(drain.settled(kExit + 2h)) << "the second's own grace is over";
}

TEST(PipeDrain, BytesOfAPipeThatHasEndedAreNotWaitedFor) {
    PipeDrain drain = exited(100);
    drain.on_end(0);
    EXPECT_TRUE(drain.settled(kExit + 150ms));
}

TEST(PipeDrain, APauseOfTheReaderDoesNotCount) {
    PipeDrain drain = exited();
    drain.on_pause(kExit + 100ms);
    drain.on_pause(kExit + 200ms);  // of the other pipe: still one pause
    EXPECT_FALSE(drain.wake_at());
    EXPECT_FALSE(drain.settled(kExit + 10s));
    drain.on_resume(kExit + 10'100ms);
    EXPECT_FALSE(drain.settled(kExit + 10'149ms));
    EXPECT_EQ(drain.wake_at(), kExit + 10'150ms);
    EXPECT_TRUE(drain.settled(kExit + 10'150ms));
}

TEST(PipeDrain, APauseThatBeganBeforeTheExitCountsFromTheExit) {
    PipeDrain drain;
    drain.on_open(0);
    drain.on_pause(kExit - 10s);
    drain.on_exit({0, 0}, kExit);
    drain.on_resume(kExit + 1s);
    EXPECT_EQ(drain.wake_at(), kExit + 1150ms) << "ten seconds more would hold the result up";
}

TEST(PipeDrain, ResumingWithoutAPauseChangesNothing) {
    PipeDrain drain = exited();
    drain.on_resume(kExit + 100ms);
    EXPECT_EQ(drain.wake_at(), kExit + 150ms);
}

}  // namespace
}  // namespace sandpipe::detail
