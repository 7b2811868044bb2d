#include "wire/glob.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace sandpipe::wire {
namespace {

constexpr std::size_t kNone = GlobMatch::kNone;

struct NameCase {
    const char* pattern;
    std::vector<const char*> matching;
    std::vector<const char*> other;
};

TEST(MatchName, EachCharacterOfAPattern) {
    const std::vector<NameCase> cases{
        {"*", {"", "a", ".hidden", "...", "a b", "\xc3\xa9"}, {}},
        {"*.pem", {".pem", "a.pem", ".a.pem", "a.pem.pem"}, {"a.pemx", "a.PEM", "pem", "a.pem.bak"}},
        {"a*b*c", {"abc", "aXbXc", "abbcc", "abcbc"}, {"ab", "acb", "abcd"}},
        {"**", {"", "a"}, {}},
        {"a**b", {"ab", "axxb"}, {"a", "b"}},
        {"?", {"a", ".", "\xc3\xa9", "\xe2\x82\xac", "\xff"}, {"", "ab", "\xc3\xa9x"}},
        {"a?c",
         {"abc",
          "a\xc3\xa9"
          "c"},
         {"ac", "abbc"}},
        {"[abc]", {"a", "b", "c"}, {"d", "", "ab", "[abc]"}},
        {"[a-c]x", {"ax", "cx"}, {"dx", "x", "-x"}},
        {"[!a-c]", {"d", ".", "\xc3\xa9"}, {"a", "c", ""}},
        {"[^a]", {"b", "^"}, {"a"}},
        {"[]a]", {"]", "a"}, {"b"}},
        {"[!]a]", {"b"}, {"]", "a"}},
        {"[a-]", {"a", "-"}, {"b"}},
        {"[-a]", {"a", "-"}, {"b"}},
        {"[\xc3\xa0-\xc3\xbf]", {"\xc3\xa9"}, {"e", "\xc3"}},
        {"[*]", {"*"}, {"a", ""}},
        {"[?]x", {"?x"}, {"ax"}},
        {"a[b", {"a[b"}, {"ab", "a[bc"}},
        {"[", {"["}, {"", "a"}},
        {"[]", {"[]"}, {"", "]"}},
        {"[WIP]", {"W", "I", "P"}, {"[WIP]", "WIP"}},
        {"\\*", {"\\", "\\x"}, {"*"}},
        {".env", {".env"}, {"env", ".env2", ".ENV"}},
        {".env*", {".env", ".env.local"}, {"x.env"}},
        {"", {""}, {"a"}},
    };
    for (const NameCase& c : cases) {
        for (const char* name : c.matching)
            EXPECT_TRUE(match_name(c.pattern, name)) << c.pattern << " " << name;
        for (const char* name : c.other)
            EXPECT_FALSE(match_name(c.pattern, name)) << c.pattern << " " << name;
    }
}

struct PathCase {
    const char* pattern;
    const char* path;
    std::size_t matched;
    bool open;
};

TEST(MatchGlob, PathsAndWhatStandsAboveThem) {
    const std::vector<PathCase> cases{
        {"*.pem", "a.pem", 5, false},
        {"*.pem", "d/a.pem", kNone, false},
        {"*.pem", "", kNone, true},
        {"*.pem", "d.pem/x/y", 5, false},  // what is below a match
        {"**/*.pem", "a.pem", 5, true},
        {"**/*.pem", "a/b/c.pem", 9, true},
        {"**/*.pem", "a/b/c", kNone, true},
        {"**/*.pem", "a.pem/b.pem/c", 11, true},  // the longest
        {"*/x", "d/x", 3, false},
        {"*/x", "x", kNone, true},
        {"*/x", "d/y", kNone, false},
        {"*/x", "d/e/x", kNone, false},
        {"a/**/b", "a/b", 3, true},
        {"a/**/b", "a/x/y/b", 7, true},
        {"a/**/b", "c/x/b", kNone, false},
        {"a/**/b", "a", kNone, true},
        {"**", "", 0, true},
        {"**", "a/b", 3, true},
        {"**/**", "a", 1, true},
        {"a/**", "a", 1, true},
        {"a/**", "b", kNone, false},
        {"**/a/**/b", "x/a/y/a/z/b/w", 11, true},
        {"?/?", "a/b", 3, false},
        {"?", "a/b", 1, false},
        {"*", "a/b", 1, false},
        {"[!x]", "a", 1, false},
        {".git/*", ".git/config", 11, false},
        {"**/.env", ".env", 4, true},
        {"**/.env", "a/.env/b", 6, true},
    };
    for (const PathCase& c : cases) {
        const GlobMatch match = match_glob(c.pattern, c.path);
        EXPECT_EQ(match.matched, c.matched) << c.pattern << " " << c.path;
        EXPECT_EQ(match.open, c.open) << c.pattern << " " << c.path;
    }
}

TEST(MatchGlob, NoPatternMatchesASlash) {
    for (const char* pattern : {"?", "*", "[/]", "[.-0]", "[!a]", "a?b", "a*b", "a[!x]b", "***"})
        EXPECT_NE(match_glob(pattern, "a/b").matched, 3U) << pattern;
}

TEST(MatchGlob, ManyStarsAndComponentsTakeNoTime) {
    const auto begin = std::chrono::steady_clock::now();
    std::string stars, deep, pattern;
    for (int i = 0; i < 100; ++i) stars += "*a";
    EXPECT_FALSE(match_name(stars + "b", std::string(4000, 'a')));
    for (int i = 0; i < 2000; ++i) deep += i ? "/a" : "a";
    for (int i = 0; i < 31; ++i) pattern += "**/a*a*a*b/";
    pattern += "x";
    ASSERT_LE(count_components(pattern), kMaxGlobComponents);
    EXPECT_EQ(match_glob(pattern, deep).matched, kNone);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(MatchGlob, TooManyComponentsMatchEverything) {
    std::string pattern = "a";
    while (count_components(pattern) < kMaxGlobComponents) pattern += "/a";
    EXPECT_EQ(match_glob(pattern, "b").matched, kNone);
    EXPECT_EQ(match_glob(pattern, pattern).matched, pattern.size());
    EXPECT_EQ(match_glob(pattern + "/a", "b").matched, 0U);
}

TEST(HasGlob, OnlyTheseCharacters) {
    for (const char* path : {"*", "a/?", "/w/[x]", "**"}) EXPECT_TRUE(has_glob(path)) << path;
    for (const char* path : {"", "/w/{a,b}", "a]", "~/!x", "a\\b"}) EXPECT_FALSE(has_glob(path)) << path;
}

}  // namespace
}  // namespace sandpipe::wire
