#include "sandbox/policy/path_pattern.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sandpipe {
namespace {

struct PatternCase {
    const char* pattern;
    const char* path;
    const char* glob;
};

TEST(SplitPattern, BeforeTheComponentOfTheFirstGlob) {
    const std::vector<PatternCase> cases{
        {"a", "a", ""},
        {"/", "/", ""},
        {"~/x/", "~/x", ""},
        {"a/**", "a", ""},
        {"a/**/", "a", ""},
        {"a/**/**", "a", ""},
        {"/**", "/", ""},
        {"**", ".", ""},
        {"**/**", ".", ""},
        {"*", ".", "*"},
        {"*.pem", ".", "*.pem"},
        {"./*.pem", ".", "*.pem"},
        {"~/*", "~", "*"},
        {"/*", "/", "*"},
        {"/w/*/x", "/w", "*/x"},
        {"/w/a*b/x", "/w", "a*b/x"},
        {"/w//./d/[ab]/.//x/", "/w//./d", "[ab]/x"},
        {"../**/.env", "..", "**/.env"},
        {"a/*/b/**", "a", "*/b"},
        {"a/**/b", "a", "**/b"},
        {"{a,b}", "{a,b}", ""},
    };
    for (const PatternCase& c : cases) {
        const SplitPattern split = split_pattern(c.pattern);
        EXPECT_EQ(split.path, c.path) << c.pattern;
        EXPECT_EQ(split.glob, c.glob) << c.pattern;
    }
}

TEST(SplitPattern, ALiteralPathIsLeftAlone) {
    PathPattern literal("[WIP]/**");
    literal.literal = true;
    EXPECT_EQ(split_pattern(literal).path, "[WIP]/**");
    EXPECT_EQ(split_pattern(literal).glob, "");
    EXPECT_EQ(glob_fault(literal), "");
}

TEST(GlobFault, WhatHasNoMeaning) {
    EXPECT_EQ(glob_fault("../**/x"), "");
    EXPECT_NE(glob_fault("*/../x"), "");
    EXPECT_NE(glob_fault("[[:digit:]]"), "");
    std::string deep = "*";
    for (int i = 0; i < 62; ++i) deep += "/x";
    EXPECT_EQ(glob_fault(deep), "");
    EXPECT_NE(glob_fault(deep + "/x"), "");
}

}  // namespace
}  // namespace sandpipe
