#include "wire/feature_limits.hpp"

#include <gtest/gtest.h>

namespace sandpipe::wire {
namespace {

FeatureLimits parsed(std::string_view words) {
    FeatureLimits limits;
    EXPECT_TRUE(parse_feature_limits(words, limits)) << words;
    return limits;
}

TEST(FeatureLimits, NothingTakesNothingAway) {
    EXPECT_EQ(parsed(""), FeatureLimits{});
    EXPECT_EQ(to_words(FeatureLimits{}), "");
}

TEST(FeatureLimits, EachWordTakesAwayWhatItNames) {
    EXPECT_EQ(parsed("landlock").landlock_abi, 0);
    EXPECT_EQ(parsed("landlock>2").landlock_abi, 2);
    EXPECT_FALSE(parsed("listener").listener);
    EXPECT_FALSE(parsed("addfd_send").addfd_send);
    EXPECT_FALSE(parsed("wait_killable").wait_killable);
    EXPECT_FALSE(parsed("close_range").close_range);
    EXPECT_FALSE(parsed("memfd_exec").memfd_exec);
    EXPECT_TRUE(parsed("memfd_exec").close_range);
}

TEST(FeatureLimits, TheHelperReadsWhatTheHostRead) {
    for (const char* words : {"landlock", "landlock>5,close_range", "listener,addfd_send,wait_killable,memfd_exec"}) {
        const FeatureLimits limits = parsed(words);
        EXPECT_EQ(parsed(to_words(limits)), limits) << words;
        EXPECT_NE(limits, FeatureLimits{}) << words;
    }
}

TEST(FeatureLimits, WhatIsNoWordIsRefused) {
    FeatureLimits limits;
    for (const char* words : {"seccomp", "landlock>", "landlock>x", "landlock>-1", "landlock>1 ",
                              "listener,,addfd_send", " listener", "LISTENER", ",", "landlock>99999999999"})
        EXPECT_FALSE(parse_feature_limits(words, limits)) << words;
}

}  // namespace
}  // namespace sandpipe::wire
