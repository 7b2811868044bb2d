#include "launcher/cell/supervision_need.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sandpipe::launcher {
namespace {

using wire::Access;
using wire::AccessRule;

/// The mechanisms that this plan needs a supervisor for.
std::vector<std::string> needs(const std::vector<AccessRule>& rules, const wire::SessionPlan& given = {}) {
    std::vector<std::vector<std::string>> both;
    for (const bool reversed : {false, true}) {
        wire::SessionPlan plan = given;
        std::vector<AccessRule> order = rules;
        if (reversed) std::reverse(order.begin(), order.end());
        for (AccessRule& rule : order) plan.rules.add(std::move(rule));
        std::vector<std::string>& names = both.emplace_back();
        for (const SupervisionNeed& need : supervision_needs(plan)) names.push_back(need.mechanism);
    }
    EXPECT_EQ(both[0], both[1]);
    return both[0];
}

using Names = std::vector<std::string>;

TEST(SupervisionNeed, MountsAreEnoughForReading) {
    EXPECT_EQ(needs({}), Names{});
    EXPECT_EQ(needs({{Access::deny_read, "/secret", "s", {}, false}, {Access::private_write, "/tmp", {}, {}, false}}),
              Names{});
}

TEST(SupervisionNeed, DeniedNamesInAWritablePlaceNeedOne) {
    const AccessRule root{Access::allow_write, "/w", "/w", {}, false};
    EXPECT_EQ(needs({root}), Names{});
    EXPECT_EQ(needs({root, {Access::deny_write, "/w/.env", ".env", {}, false}}), Names{"names"});
    EXPECT_EQ(needs({root, {Access::deny_read, "/w/a/b", "a/b", {}, false}}), (Names{"denied_reads", "names"}));
    EXPECT_EQ(needs({root, {Access::deny_read, "/w", "*.key", "*.key", false}}), (Names{"denied_reads", "names"}));
    EXPECT_EQ(needs({root, {Access::deny_read, "/w", "/w", {}, false}}), Names{});
    EXPECT_EQ(needs({root, {Access::deny_write, "/w", "*.key", "*.key", false}}), Names{"names"});
    EXPECT_EQ(needs({root, {Access::deny_write, "/", "**/.x", "**/.x", false}}), Names{"names"});
    EXPECT_EQ(needs({root, {Access::deny_write, "/o/.env", ".env", {}, false}}), Names{});
    EXPECT_EQ(needs({root, {Access::deny_write, "/wide/.env", ".env", {}, false}}), Names{});
}

TEST(SupervisionNeed, OnlyDeniedReadsAreNeverDispensedWith) {
    wire::SessionPlan plan;
    plan.rules.restrict_execute = true;
    plan.unix_sockets = {"/run/x"};
    plan.rules.add({Access::allow_write, "/w", "/w", {}, false});
    plan.rules.add({Access::deny_read, "/w/x", "x", {}, false});
    const std::vector<SupervisionNeed> all = supervision_needs(plan);
    ASSERT_EQ(all.size(), 4U);
    for (const SupervisionNeed& need : all) EXPECT_EQ(need.dispensable, need.mechanism != "denied_reads");
}

TEST(SupervisionNeed, SoDoExecutionAndSocketsOfTheHost) {
    wire::SessionPlan plan;
    plan.rules.restrict_execute = true;
    EXPECT_EQ(needs({}, plan), Names{"execution"});
    plan.unix_sockets = {"/run/x"};
    EXPECT_EQ(needs({}, plan), (Names{"execution", "unix_sockets"}));
    plan.filesystem_enforced = false;
    EXPECT_EQ(needs({{Access::allow_write, "/w", "/w", {}, false}, {Access::deny_write, "/w/x", "x", {}, false}}, plan),
              Names{"unix_sockets"});
}

}  // namespace
}  // namespace sandpipe::launcher
