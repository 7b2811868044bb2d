#include "wire/access_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

namespace sandpipe::wire {
namespace {

using Rules = std::vector<AccessRule>;

AccessRule rule(Access access, std::string place) {
    std::string text = "rule for " + place;
    return {access, std::move(place), std::move(text), {}, false};
}

/// What the rules say, checked to be the same in both orders.
class Both {
  public:
    explicit Both(Rules rules) : given_(rules) {
        std::reverse(rules.begin(), rules.end());
        reversed_ = AccessRules(std::move(rules));
    }
    [[nodiscard]] Verdict read(const std::string& path) const {
        return same(given_.read(path), reversed_.read(path));
    }
    [[nodiscard]] Verdict write(const std::string& path) const {
        return same(given_.write(path), reversed_.write(path));
    }

  private:
    static Verdict same(const Verdict& first, const Verdict& second) {
        EXPECT_EQ(first.allowed, second.allowed);
        EXPECT_EQ(first.error, second.error);
        EXPECT_EQ(first.rule, second.rule);
        return first;
    }

    AccessRules given_;
    AccessRules reversed_;
};

TEST(Holds, ItselfAndWhatIsBelow) {
    EXPECT_TRUE(holds("/w", "/w"));
    EXPECT_TRUE(holds("/w", "/w/a/b"));
    EXPECT_FALSE(holds("/w", "/ww"));
    EXPECT_FALSE(holds("/w/a", "/w"));
    EXPECT_TRUE(holds("/", "/w"));
    EXPECT_FALSE(holds("/", "pipe:[12]"));
    EXPECT_FALSE(holds("", "/w"));
}

TEST(RelativeTo, OnlyStrictlyBelow) {
    EXPECT_EQ(relative_to("/w", "/w/a/b"), "a/b");
    EXPECT_EQ(relative_to("/", "/w"), "w");
    EXPECT_EQ(relative_to("/w", "/w"), "");
    EXPECT_EQ(relative_to("/w", "/ww"), "");
}

TEST(AccessRules, ReadsAreAllowedByDefault) {
    const Verdict verdict = Both({}).read("/etc/passwd");
    EXPECT_TRUE(verdict.allowed);
    EXPECT_EQ(verdict.rule, "");
}

TEST(AccessRules, LongestReadRuleWins) {
    const Both rules({rule(Access::deny_read, "/home/u"), rule(Access::allow_read, "/home/u/w"),
                      rule(Access::deny_read, "/home/u/w/.ssh")});
    EXPECT_FALSE(rules.read("/home/u/x").allowed);
    EXPECT_EQ(rules.read("/home/u/x").error, EACCES);
    EXPECT_TRUE(rules.read("/home/u/w/x").allowed);
    EXPECT_EQ(rules.read("/home/u/w/x").rule, "rule for /home/u/w");
    EXPECT_FALSE(rules.read("/home/u/w/.ssh/id").allowed);
    EXPECT_TRUE(rules.read("/home").allowed);
}

TEST(AccessRules, DenyWinsOnATie) {
    const Both rules({rule(Access::allow_read, "/a"), rule(Access::deny_read, "/a")});
    EXPECT_FALSE(rules.read("/a/b").allowed);
}

TEST(AccessRules, WritesAreDeniedByDefault) {
    const Verdict verdict = Both({rule(Access::allow_write, "/w")}).write("/etc/x");
    EXPECT_FALSE(verdict.allowed);
    EXPECT_EQ(verdict.error, EROFS);
    EXPECT_EQ(verdict.rule, "");
}

TEST(AccessRules, WhatHasNoPlaceIsInNoRoot) {
    EXPECT_FALSE(Both({rule(Access::allow_write, "/")}).write("").allowed);
    EXPECT_TRUE(Both({rule(Access::allow_write, "/")}).write("/x").allowed);
}

TEST(AccessRules, AnyDenyBeatsAnyAllowedWrite) {
    const Both rules({rule(Access::allow_write, "/w"), rule(Access::deny_write, "/w/a"),
                      rule(Access::allow_write, "/w/a/b")});
    EXPECT_TRUE(rules.write("/w/x").allowed);
    const Verdict verdict = rules.write("/w/a/b/c");
    EXPECT_FALSE(verdict.allowed);
    EXPECT_EQ(verdict.error, EACCES);
    EXPECT_EQ(verdict.rule, "rule for /w/a");
}

TEST(AccessRules, WhatCannotBeReadCannotBeWritten) {
    const Both rules({rule(Access::allow_write, "/w"), rule(Access::deny_read, "/w/secret"),
                      rule(Access::allow_read, "/w/secret/open")});
    EXPECT_EQ(rules.write("/w/secret/x").error, EACCES);
    EXPECT_TRUE(rules.write("/w/secret/open/x").allowed);
}

TEST(AccessRules, TheLongestRuleIsNamed) {
    const Both rules({rule(Access::allow_write, "/w"), rule(Access::private_write, "/w/tmp"),
                      rule(Access::deny_write, "/w/.git"), rule(Access::deny_write, "/w/.git/hooks")});
    EXPECT_EQ(rules.write("/w/x").rule, "rule for /w");
    EXPECT_EQ(rules.write("/w/tmp/x").rule, "rule for /w/tmp");
    EXPECT_EQ(rules.write("/w/.git/hooks/x").rule, "rule for /w/.git/hooks");
}

TEST(AccessRules, OfTwoRulesForOnePlaceAlwaysTheSameIsNamed) {
    const Both rules(
        {{Access::deny_write, "/w", "b", {}, false}, {Access::deny_write, "/w", "a", {}, false}});
    EXPECT_EQ(rules.write("/w/x").rule, "a");
}

TEST(AccessRules, PrivatePlacesAreNoRoots) {
    const AccessRules rules{{rule(Access::allow_write, "/w"), rule(Access::private_write, "/tmp"),
                             rule(Access::allow_write, "/a"), rule(Access::allow_write, "/w")},
                            true};
    EXPECT_TRUE(rules.write("/tmp/x").allowed);
    EXPECT_EQ(rules.writable_roots(), (std::vector<std::string>{"/a", "/w"}));
}

TEST(AccessRules, ProtectedBelowIsStrict) {
    const AccessRules rules{{rule(Access::allow_write, "/w"), rule(Access::deny_write, "/w/b/.git"),
                             rule(Access::deny_read, "/w/a/secret"), rule(Access::deny_write, "/ww/x")},
                            true};
    const auto below = rules.protected_below("/w");
    ASSERT_EQ(below.size(), 2U);
    EXPECT_EQ(below[0]->place, "/w/a/secret");
    EXPECT_EQ(below[1]->place, "/w/b/.git");
    EXPECT_TRUE(rules.protected_below("/w/b/.git").empty());
    EXPECT_EQ(rules.protected_below("/").size(), 3U);
}

AccessRule glob(Access access, std::string place, std::string pattern) {
    std::string text = "glob " + pattern;
    return {access, std::move(place), std::move(text), std::move(pattern), false};
}

TEST(AccessRules, AGlobDeniesWhatItMatchesAndAllBelow) {
    const Both rules({rule(Access::allow_write, "/w"), glob(Access::deny_read, "/w", "**/*.pem"),
                      glob(Access::deny_write, "/w/d", "*.key")});
    for (const char* path : {"/w/a.pem", "/w/x/y/.pem", "/w/a.pem/b/c"}) {
        EXPECT_EQ(rules.read(path).error, EACCES) << path;
        EXPECT_EQ(rules.write(path).rule, "glob **/*.pem") << path;
    }
    for (const char* path : {"/a.pem", "/w", "/w/pem", "/ww/a.pem"})
        EXPECT_TRUE(rules.read(path).allowed) << path;
    EXPECT_EQ(rules.write("/w/d/a.key").rule, "glob *.key");
    EXPECT_EQ(rules.write("/w/d/a.key/x").error, EACCES);
    EXPECT_TRUE(rules.write("/w/d/e/a.key").allowed);
    EXPECT_TRUE(rules.read("/w/d/a.key").allowed);
}

TEST(AccessRules, AGlobThatBeginsAtTheRootIsNotAboutTheSessionsOwnTrees) {
    const Both rules(Rules{{Access::deny_read, "/", "all", "**", false},
                           {Access::private_write, "/dev/null", "own", {}, false},
                           {Access::deny_write, "/", "nulls", "**/null", false}});
    EXPECT_FALSE(rules.read("/etc/x").allowed);
    EXPECT_TRUE(rules.read("/proc/self/status").allowed);
    EXPECT_TRUE(rules.read("/dev").allowed);
    EXPECT_TRUE(rules.write("/dev/null").allowed);
    EXPECT_FALSE(rules.write("/proc/null").allowed);
}

TEST(AccessRules, OnlyALiteralAllowOfThatVeryNameLiftsAGlob) {
    const Rules deny{glob(Access::deny_read, "/w", "**/*.pem"), glob(Access::deny_read, "/w", "**/secret*")};
    const auto with = [&](AccessRule allow) {
        Rules all = deny;
        all.push_back(std::move(allow));
        return Both(all);
    };
    EXPECT_FALSE(with(rule(Access::allow_read, "/w/certs")).read("/w/certs/a.pem").allowed);
    const Both named = with(rule(Access::allow_read, "/w/certs/a.pem"));
    EXPECT_TRUE(named.read("/w/certs/a.pem").allowed);
    EXPECT_FALSE(named.read("/w/certs/b.pem").allowed);
    // The name of a directory, or one below it; but not what a glob matches further down.
    const Both directory = with(rule(Access::allow_read, "/w/secrets"));
    EXPECT_TRUE(directory.read("/w/secrets/x").allowed);
    EXPECT_FALSE(directory.read("/w/secrets/a.pem").allowed);
    const Both below = with(rule(Access::allow_read, "/w/secrets/open"));
    EXPECT_TRUE(below.read("/w/secrets/open/x").allowed);
    EXPECT_FALSE(below.read("/w/secrets").allowed);
    EXPECT_FALSE(below.read("/w/secrets/x").allowed);
    AccessRule expanded = rule(Access::allow_read, "/w/certs/a.pem");
    expanded.expanded = true;
    EXPECT_FALSE(with(expanded).read("/w/certs/a.pem").allowed);
}

TEST(AccessRules, ALiteralDenialIsNotLiftedByWhatLiftsAGlob) {
    const Both rules({glob(Access::deny_read, "/w", "*"), rule(Access::deny_read, "/w/a/b"),
                      rule(Access::allow_read, "/w/a")});
    EXPECT_TRUE(rules.read("/w/a/x").allowed);
    EXPECT_EQ(rules.read("/w/a/b/x").rule, "rule for /w/a/b");
    EXPECT_EQ(rules.read("/w/c").rule, "glob *");
}

TEST(AccessRules, WhatAGlobMatchedIsProtectedAndJudgedByTheGlob) {
    AccessRule expanded = rule(Access::deny_read, "/w/d/a.pem");
    expanded.expanded = true;
    const AccessRules rules(
        {rule(Access::allow_write, "/w"), glob(Access::deny_read, "/w", "*/*.pem"), expanded});
    EXPECT_EQ(rules.read("/w/d/a.pem").rule, "glob */*.pem");
    ASSERT_EQ(rules.protected_below("/w/d").size(), 1U);
    EXPECT_EQ(rules.protected_below("/w/d")[0]->place, "/w/d/a.pem");
    EXPECT_EQ(rules.globs_below("/w").size(), 1U);
    EXPECT_EQ(rules.globs_below("/").size(), 1U);
    EXPECT_EQ(rules.globs_below("/w/d").size(), 1U);
    EXPECT_TRUE(rules.globs_below("/w/d/e").empty());
    EXPECT_TRUE(rules.globs_below("/v").empty());
}

TEST(AccessRules, ExecutionIsRestrictedOnRequest) {
    AccessRules rules({rule(Access::allow_execute, "/usr/bin/git"), rule(Access::allow_execute, "/opt"),
                       rule(Access::deny_read, "/opt/x")});
    EXPECT_TRUE(rules.execute("/bin/sh").allowed);
    EXPECT_FALSE(rules.execute("/opt/x/y").allowed);
    rules.restrict_execute = true;
    EXPECT_EQ(rules.execute("/usr/bin/git").rule, "rule for /usr/bin/git");
    EXPECT_TRUE(rules.execute("/opt/a").allowed);
    EXPECT_FALSE(rules.execute("/opt/x").allowed);
    EXPECT_EQ(rules.execute("/bin/sh").error, EACCES);
    EXPECT_EQ(rules.execute("").error, EACCES);
    rules.enabled = false;
    EXPECT_TRUE(rules.execute("/bin/sh").allowed);
}

TEST(AccessRules, TwentyThousandPlacesCostNoMoreThanAFew) {
    AccessRules rules({rule(Access::allow_write, "/w"), glob(Access::deny_read, "/w", "**/*.pem")});
    for (int i = 0; i < 20'000; ++i)
        rules.add({Access::deny_read, "/w/d/" + std::to_string(i) + ".pem", "pem", {}, true});
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 20'000; ++i) EXPECT_FALSE(rules.write("/w/d/" + std::to_string(i) + ".pem").allowed);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(AccessRules, DisabledMeansNoRuleAtAll) {
    const AccessRules rules{{rule(Access::deny_read, "/"), rule(Access::deny_write, "/w")}, false};
    EXPECT_TRUE(rules.read("/w").allowed);
    EXPECT_TRUE(rules.write("/w").allowed);
    EXPECT_TRUE(rules.protected_below("/").empty());
}

TEST(AccessRules, SurviveTheWire) {
    AccessRules rules{{rule(Access::deny_read, "/a"),
                       rule(Access::private_write, "/b"),
                       {Access::deny_write, "/c", "text", "**/*.pem", true}},
                      false};
    rules.restrict_execute = true;
    Encoder out;
    encode(out, rules);
    AccessRules seen;
    Decoder in(out.bytes());
    decode(in, seen);
    ASSERT_TRUE(in.complete());
    EXPECT_FALSE(seen.enabled);
    EXPECT_TRUE(seen.restrict_execute);
    EXPECT_EQ(seen.all(), rules.all());
    EXPECT_EQ(seen.all().size(), 3U);
}

}  // namespace
}  // namespace sandpipe::wire
