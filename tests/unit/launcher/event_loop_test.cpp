#include "launcher/loop/event_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/descriptors.hpp"

namespace sandpipe::launcher {
namespace {

class EventLoopTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(loop_.open(), 0);
        ASSERT_EQ(sys::make_pipe(direct_), 0);
        ASSERT_EQ(sys::make_pipe(other_), 0);
        loop_.add_direct(direct_.read_end.get(), [this] { directs_ += take(direct_); });
        ASSERT_EQ(loop_.add(other_.read_end.get(), [this] { others_ += take(other_); }), 0);
    }

    static int take(const sys::Pipe& pipe) {
        char byte = 0;
        return static_cast<int>(::read(pipe.read_end.get(), &byte, 1));
    }
    static void give(const sys::Pipe& pipe) { ASSERT_EQ(::write(pipe.write_end.get(), "x", 1), 1); }

    sys::Pipe direct_;
    sys::Pipe other_;
    EventLoop loop_;
    int directs_ = 0;
    int others_ = 0;
};

TEST_F(EventLoopTest, ServesBothInOneRound) {
    give(direct_);
    give(other_);
    ASSERT_EQ(loop_.run_once(10'000), 0);
    EXPECT_EQ(directs_, 1);
    EXPECT_EQ(others_, 1);
}

TEST_F(EventLoopTest, ServesEachAlone) {
    give(direct_);
    ASSERT_EQ(loop_.run_once(10'000), 0);
    EXPECT_EQ(directs_, 1);
    EXPECT_EQ(others_, 0);
    give(other_);
    ASSERT_EQ(loop_.run_once(10'000), 0);
    EXPECT_EQ(directs_, 1);
    EXPECT_EQ(others_, 1);
}

TEST_F(EventLoopTest, ADirectOneThatOnlyHungUpIsNotReadAndNotWaitedForAgain) {
    direct_.write_end.reset();
    loop_.add_direct(direct_.read_end.get(), [this] { ++directs_; });
    ASSERT_EQ(loop_.run_once(10'000), 0);
    give(other_);
    ASSERT_EQ(loop_.run_once(10'000), 0);
    EXPECT_EQ(directs_, 0);
    EXPECT_EQ(others_, 1);
}

TEST_F(EventLoopTest, WhatIsLeftOfADirectOneThatHungUpIsTakenFirst) {
    give(direct_);
    direct_.write_end.reset();
    ASSERT_EQ(loop_.run_once(10'000), 0);
    EXPECT_EQ(directs_, 1);
}

TEST_F(EventLoopTest, ADirectOneIsRemovedLikeOthersAlsoByItsOwnCallback) {
    loop_.add_direct(direct_.read_end.get(), [this] {
        loop_.remove(direct_.read_end.get());
        ++directs_;
    });
    give(direct_);
    ASSERT_EQ(loop_.run_once(10'000), 0);
    ASSERT_EQ(loop_.run_once(0), 0);
    EXPECT_EQ(directs_, 1);
}

}  // namespace
}  // namespace sandpipe::launcher
