#include "sandbox/network/connection_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

namespace sandpipe {
namespace {

TEST(ConnectionShare, NoPartTakesMoreThanItLeaves) {
    EXPECT_TRUE(leaves_enough(0, 0, 384));
    EXPECT_TRUE(leaves_enough(191, 191, 384));
    EXPECT_FALSE(leaves_enough(192, 192, 384));
    EXPECT_FALSE(leaves_enough(10, 374, 384));
    EXPECT_TRUE(leaves_enough(9, 374, 384));
    EXPECT_FALSE(leaves_enough(1, 400, 384)) << "more is taken than there is, because the limit was lowered";
    EXPECT_TRUE(leaves_enough(0, 400, 384)) << "one is always left";
}

// Whoever comes, in whatever order: all together stay within the budget but for the one that each always has.
TEST(ConnectionShare, CrowdsStayWithinTheBudget) {
    constexpr std::size_t kBudget = 384;
    std::array<std::size_t, 12> taken{};
    const auto total = [&] { return std::accumulate(taken.begin(), taken.end(), std::size_t{0}); };
    for (std::size_t& own : taken)
        while (leaves_enough(own, total(), kBudget)) ++own;
    EXPECT_LE(total(), kBudget + taken.size());
    EXPECT_GE(*std::min_element(taken.begin(), taken.end()), 1U);
    EXPECT_GE(taken[1], kBudget / 4) << "the second still has much";
}

TEST(ConnectionShare, HasNoMoreThanItsOwnMost) {
    ConnectionShare share(2, [] {});
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(share.has_room());
        share.take();
    }
    EXPECT_FALSE(share.has_room());
    share.give_back();
    EXPECT_TRUE(share.has_room());
}

TEST(ConnectionShare, OnlyWhoLacksRoomIsToldOfIt) {
    int told = 0;
    ConnectionShare waiting(1, [&] { ++told; });
    waiting.take();
    ConnectionShare other(10, [] {});
    other.take();
    other.give_back();
    EXPECT_EQ(told, 0);
    EXPECT_FALSE(waiting.has_room());
    other.take();
    other.give_back();
    EXPECT_EQ(told, 1);
    other.take();
    other.give_back();
    EXPECT_EQ(told, 1) << "it has not asked again";
    EXPECT_FALSE(waiting.has_room());
    { ConnectionShare gone(1, [] {}); }
    EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace sandpipe
