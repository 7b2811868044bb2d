#include "launcher/paths/steady_path.hpp"

#include <gtest/gtest.h>

namespace sandpipe::launcher {
namespace {

using wire::Access;
using wire::AccessRules;

AccessRules rules() {
    return AccessRules({{Access::allow_write, "/w/root", {}, {}}, {Access::private_write, "/tmp", {}, {}}});
}

TEST(SteadyPath, HasNoDirectoryWithItsNameInARoot) {
    const AccessRules given = rules();
    EXPECT_TRUE(is_steady(given, "/w/root", "x", "/w/root/x"));
    EXPECT_TRUE(is_steady(given, "/w/root", "./x", "/w/root/x"));
    EXPECT_TRUE(is_steady(given, "/w/root/sub", "x", "/w/root/sub/x"));
    EXPECT_TRUE(is_steady(given, "/elsewhere", "/w/root/x", "/w/root/x"));
    EXPECT_TRUE(is_steady(given, "/w", "root//x", "/w/root/x"));
    EXPECT_FALSE(is_steady(given, "/w/root", "sub/x", "/w/root/sub/x"));
    EXPECT_FALSE(is_steady(given, "/w", "/w/root/sub/x", "/w/root/sub/x"));
    EXPECT_FALSE(is_steady(given, "/w", "root/sub/./x", "/w/root/sub/x"));
}

TEST(SteadyPath, MayLieInTheOwnTmpAtAnyDepth) {
    EXPECT_TRUE(is_steady(rules(), "/w/root", "/tmp/a/b/x", "/tmp/a/b/x"));
    EXPECT_TRUE(is_steady(rules(), "/tmp/a", "b/x", "/tmp/a/b/x"));
}

TEST(SteadyPath, HasNoLinksAndDoesNotGoUp) {
    EXPECT_FALSE(is_steady(rules(), "/w", "/tmp/link/x", "/w/root/x"));
    EXPECT_FALSE(is_steady(rules(), "/tmp/a", "../b/x", "/tmp/b/x"));
    EXPECT_FALSE(is_steady(rules(), "", "x", "/tmp/x"));
}

}  // namespace
}  // namespace sandpipe::launcher
