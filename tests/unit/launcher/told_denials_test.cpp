#include "launcher/supervisor/told_denials.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sandpipe::launcher {
namespace {

class ToldDenialsTest : public ::testing::Test {
  protected:
    static seccomp_notif call(unsigned pid, int number = 1) {
        seccomp_notif notification{};
        notification.id = next_cookie_++;
        notification.pid = pid;
        notification.data.nr = number;
        return notification;
    }
    static wire::Denied denied(int error) {
        wire::Denied denied;
        denied.error = error;
        return denied;
    }

    static inline std::uint64_t next_cookie_ = 1;
    bool host_takes_ = true;
    std::vector<wire::Denied> heard_;
    ToldDenials told_{[this](const wire::Denied& denied) {
        if (host_takes_) heard_.push_back(denied);
        return host_takes_;
    }};
};

TEST_F(ToldDenialsTest, EachWaitsUntilItIsAcknowledgedOnce) {
    const seccomp_notif first = call(2), second = call(3);
    ASSERT_TRUE(told_.tell(denied(13), first));
    ASSERT_TRUE(told_.tell(denied(30), second));
    const auto later = told_.take(heard_.at(1).id);
    ASSERT_TRUE(later);
    EXPECT_EQ(later->notification.id, second.id);
    EXPECT_EQ(later->error, 30);
    EXPECT_FALSE(told_.take(heard_.at(1).id));
    EXPECT_EQ(told_.take(heard_.at(0).id)->notification.id, first.id);
}

TEST_F(ToldDenialsTest, WhatTheHostDoesNotTakeIsCountedByTheNext) {
    host_takes_ = false;
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(told_.tell(denied(13), call(2)));
    host_takes_ = true;
    EXPECT_TRUE(told_.tell(denied(13), call(2)));
    EXPECT_EQ(heard_.back().folded, 3U);
    told_.tell_folded();
    EXPECT_EQ(heard_.size(), 1U);
}

TEST_F(ToldDenialsTest, TheLastOfAFloodStandsForTheOthers) {
    int told = 0;
    for (int i = 0; i < 1500; ++i) {
        if (!told_.tell(denied(13), call(2))) continue;
        ++told;
        EXPECT_TRUE(told_.take(heard_.back().id));
    }
    EXPECT_EQ(told, 1000);
    told_.tell_folded();
    EXPECT_EQ(heard_.size(), 1001U);
    EXPECT_EQ(heard_.back().folded, 499U);
    EXPECT_EQ(heard_.back().id, 0U);
    told_.tell_folded();
    EXPECT_EQ(heard_.size(), 1001U);
}

TEST_F(ToldDenialsTest, AHostThatAnswersNothingHoldsUpNoMoreThanSoMany) {
    int told = 0;
    for (int i = 0; i < 2000; ++i) told += told_.tell(denied(13), call(2)) ? 1 : 0;
    EXPECT_EQ(told, 1000);
}

TEST_F(ToldDenialsTest, ACallThatIsMadeAnewTakesThePlaceOfItsFirstTry) {
    const seccomp_notif first = call(2);
    ASSERT_TRUE(told_.tell(denied(13), first));
    EXPECT_FALSE(told_.waits_again(call(3)));
    EXPECT_FALSE(told_.waits_again(call(2, 7)));
    const seccomp_notif second = call(2);
    EXPECT_TRUE(told_.waits_again(second));
    EXPECT_EQ(told_.take(heard_.at(0).id)->notification.id, second.id);
}

TEST_F(ToldDenialsTest, TheNextCommandBeginsAnew) {
    ASSERT_TRUE(told_.tell(denied(13), call(2)));
    host_takes_ = false;
    EXPECT_FALSE(told_.tell(denied(13), call(2)));
    host_takes_ = true;
    told_.forget();
    EXPECT_FALSE(told_.take(heard_.at(0).id));
    ASSERT_TRUE(told_.tell(denied(13), call(2)));
    EXPECT_EQ(heard_.back().folded, 0U);
    EXPECT_NE(heard_.back().id, heard_.front().id);
}

}  // namespace
}  // namespace sandpipe::launcher
