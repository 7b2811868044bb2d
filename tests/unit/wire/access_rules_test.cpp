#include "wire/access_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

namespace sandpipe::wire {
namespace {

using Rules = std::vector<AccessRule>;

AccessRule rule(Access access, std::string place) {
    std::string text = "rule for " + place;
    return {access, std::move(place), std::move(text)};
}

/// What the rules say, checked to be the same in both orders.
class Both {
  public:
    explicit Both(Rules rules) : given_{rules, true}, reversed_{std::move(rules), true} {
        std::reverse(reversed_.rules.begin(), reversed_.rules.end());
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
    const Both rules({{Access::deny_write, "/w", "b"}, {Access::deny_write, "/w", "a"}});
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

TEST(AccessRules, DisabledMeansNoRuleAtAll) {
    const AccessRules rules{{rule(Access::deny_read, "/"), rule(Access::deny_write, "/w")}, false};
    EXPECT_TRUE(rules.read("/w").allowed);
    EXPECT_TRUE(rules.write("/w").allowed);
    EXPECT_TRUE(rules.protected_below("/").empty());
}

TEST(AccessRules, SurviveTheWire) {
    const AccessRules rules{{rule(Access::deny_read, "/a"), rule(Access::private_write, "/b")}, false};
    Encoder out;
    encode(out, rules);
    AccessRules seen;
    Decoder in(out.bytes());
    decode(in, seen);
    ASSERT_TRUE(in.complete());
    EXPECT_FALSE(seen.enabled);
    ASSERT_EQ(seen.rules.size(), 2U);
    EXPECT_EQ(seen.rules[1].access, Access::private_write);
    EXPECT_EQ(seen.rules[1].place, "/b");
    EXPECT_EQ(seen.rules[1].text, "rule for /b");
}

}  // namespace
}  // namespace sandpipe::wire
