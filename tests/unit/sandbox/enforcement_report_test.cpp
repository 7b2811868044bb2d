#include <sandpipe/enforcement_report.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <string>

#include "sandbox/make_report.hpp"

namespace sandpipe {
namespace {

/// A session as this library wants it.
struct Session {
    Session() {
        facts.user_namespace = true;
        facts.network_namespace = true;
        facts.landlock_abi = 7;
        facts.denials = true;
        facts.addfd_send = true;
        facts.wait_killable = true;
    }
    [[nodiscard]] std::string of(const char* mechanism) const {
        const EnforcementReport report = make_report(facts, plan);
        const Mechanism* found = report.find(mechanism);
        return found ? std::string(to_string(found->enforced)) : "missing";
    }
    wire::EnforcementFacts facts;
    wire::SessionPlan plan;
};

TEST(EnforcementReport, EverythingButTheLimitsIsFull) {
    const Session session;
    for (const char* name : {"namespaces", "filesystem", "denied_reads", "network", "ipc", "landlock",
                             "seccomp", "capabilities", "no_new_privs", "processes", "denials"})
        EXPECT_EQ(session.of(name), "full") << name;
    EXPECT_EQ(session.of("limits"), "none");
    EXPECT_EQ(session.of("magic"), "missing");
}

TEST(EnforcementReport, HasExecutionWhereItIsRestricted) {
    Session session;
    EXPECT_EQ(session.of("execution"), "missing");
    session.plan.rules.restrict_execute = true;
    EXPECT_EQ(session.of("execution"), "full");
    session.plan.filesystem_enforced = false;
    EXPECT_EQ(session.of("execution"), "missing");
}

TEST(EnforcementReport, SaysWhatIsLess) {
    Session session;
    session.facts.landlock_abi = 2;
    EXPECT_EQ(session.of("landlock"), "partial");
    session.facts.landlock_abi = 0;
    EXPECT_EQ(session.of("landlock"), "none");
    EXPECT_EQ(session.of("filesystem"), "partial");
    session.facts.denials = false;
    EXPECT_EQ(session.of("denials"), "partial");
    session.facts.user_namespace = false;
    EXPECT_EQ(session.of("namespaces"), "partial");
    session.facts.network_namespace = false;
    EXPECT_EQ(session.of("network"), "none");
    wire::MountOp tmp;
    tmp.step = wire::MountStep::private_tmp;
    tmp.bytes = 4096;
    session.plan.mounts.push_back(tmp);
    EXPECT_EQ(session.of("limits"), "partial");
}

TEST(EnforcementReport, SaysWhatThePolicySwitchedOff) {
    Session session;
    session.plan.filesystem_enforced = false;
    for (const char* name : {"filesystem", "denied_reads", "landlock"})
        EXPECT_EQ(session.of(name), "none") << name;
    EXPECT_EQ(session.of("network"), "full");
    session.plan.own_network = false;
    EXPECT_EQ(session.of("network"), "none");
    EXPECT_EQ(session.of("seccomp"), "full");
}

TEST(EnforcementReport, WhatWasGivenUpIsNeverCalledEnforced) {
    Session session;
    session.facts.given_up = {{"ipc", EPERM}, {"proc", EACCES}};
    EXPECT_EQ(session.of("ipc"), "none");
    EXPECT_EQ(session.of("proc"), "none");
    const nlohmann::json json = make_report(session.facts, session.plan).to_json();
    EXPECT_EQ(json["ipc"]["enforced"], "none");
    const std::string detail = json["ipc"]["detail"];
    EXPECT_NE(detail.find("Operation not permitted"), std::string::npos) << detail;
    EXPECT_NE(detail.find("message queues"), std::string::npos) << detail;
    const EnforcementReport report = make_report(session.facts, session.plan);
    EXPECT_TRUE(report.find("proc")->given_up);
    EXPECT_FALSE(report.find("network")->given_up);
    EXPECT_EQ(json["seccomp"], (nlohmann::json{{"enforced", "full"}, {"detail", ""}}));
}

}  // namespace
}  // namespace sandpipe
