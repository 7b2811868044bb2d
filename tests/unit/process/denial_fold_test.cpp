#include "process/denial_fold.hpp"

#include <gtest/gtest.h>

namespace sandpipe::detail {
namespace {

TEST(DenialFold, TellsTheFirstOnesAndCountsTheRest) {
    DenialFold fold;
    Denial denial;
    for (std::uint64_t i = 0; i < DenialFold::kMostTold; ++i) {
        EXPECT_TRUE(fold.admit(denial));
        EXPECT_FALSE(fold.rest());
    }
    for (int i = 0; i < 500; ++i) {
        denial.host = std::to_string(i);
        EXPECT_FALSE(fold.admit(denial));
    }
    const auto rest = fold.rest();
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->host, "499");
    EXPECT_EQ(rest->folded, 499u);
    EXPECT_FALSE(fold.rest());
}

}  // namespace
}  // namespace sandpipe::detail
