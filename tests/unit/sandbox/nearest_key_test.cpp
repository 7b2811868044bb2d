#include "sandbox/policy/nearest_key.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace sandpipe {
namespace {

TEST(EditDistance, CountsEdits) {
    struct Case {
        std::string_view left;
        std::string_view right;
        std::size_t edits;
    };
    constexpr std::array cases{
        Case{"", "", 0},
        Case{"", "abc", 3},
        Case{"pids", "pids", 0},
        Case{"pid", "pids", 1},
        Case{"denyRaed", "denyRead", 1},
        Case{"denyread", "denyRead", 0},
        Case{"deny_read", "denyRead", 0},
        Case{"deny-write", "denyWrite", 0},
        Case{"alowWrte", "allowWrite", 2},
        Case{"abc", "xyz", 3},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(edit_distance(c.left, c.right), c.edits) << c.left << " " << c.right;
        EXPECT_EQ(edit_distance(c.right, c.left), c.edits) << c.right << " " << c.left;
    }
}

TEST(EditDistance, OfAHugeNameIsBounded) {
    EXPECT_LE(edit_distance(std::string(1 << 20, 'x'), "denyRead"), 64U);
}

TEST(NearestKey, IsTheFirstOfTheNearest) {
    constexpr std::array<std::string_view, 4> known{"denyRead", "denyWrite", "allowRead", "disabled"};
    EXPECT_EQ(nearest_key("denyRaed", known), 0U);
    EXPECT_EQ(nearest_key("DENY_WRITE", known), 1U);
    EXPECT_EQ(nearest_key("alowRead", known), 2U);
    EXPECT_EQ(nearest_key("disable", known), 3U);
    constexpr std::array<std::string_view, 2> equal{"ab", "ac"};
    EXPECT_EQ(nearest_key("ax", equal), 0U);
}

}  // namespace
}  // namespace sandpipe
