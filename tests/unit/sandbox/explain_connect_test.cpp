#include "sandbox/explain_connect.hpp"

#include <gtest/gtest.h>
#include <sandpipe/error.hpp>

#include "fake_path_facts.hpp"

namespace sandpipe {
namespace {

CompiledPolicy compiled(const NetworkPolicy& network) {
    CompiledPolicy result;
    result.plan.own_network = !network.disabled;
    result.plan.unix_sockets = network.allow_unix_sockets;
    result.domains = DomainRules(network);
    return result;
}

TEST(ExplainConnect, SaysWhatTheProxiesWould) {
    NetworkPolicy network;
    network.allowed_domains = {"a.b", "*.c.d:443", "127.0.0.1:8080"};
    network.denied_domains = {"x.c.d"};
    network.denied_domain_reasons = {{"x.c.d", "it is gone"}};
    const CompiledPolicy policy = compiled(network);
    const struct {
        const char* target;
        bool allowed;
        const char* rule;
    } cases[] = {{"a.b:80", true, "allowedDomains a.b"},
                 {"A.B.:80", true, "allowedDomains a.b"},
                 {"y.c.d:443", true, "allowedDomains *.c.d:443"},
                 {"y.c.d:80", false, "not in allowedDomains: 127.0.0.1:8080, a.b, *.c.d:443"},
                 {"x.c.d:443", false, "deniedDomains x.c.d: it is gone"},
                 {"127.0.0.1:8080", true, "allowedDomains 127.0.0.1:8080"},
                 {"[::1]:8080", false, nullptr}};
    for (const auto& [target, allowed, rule] : cases) {
        const Explanation found = explain_host(policy, target);
        EXPECT_EQ(found.allowed, allowed) << target << ": " << found.rule;
        if (rule) {
            EXPECT_EQ(found.rule, rule) << target;
        }
        EXPECT_FALSE(found.rule.empty());
    }
    EXPECT_EQ(explain_host(policy, "A.B.:80").place, "a.b:80");
}

TEST(ExplainConnect, WithoutAndWithTheHostsNetwork) {
    NetworkPolicy network;
    EXPECT_EQ(explain_host(compiled(network), "a.b:80").rule, "not in allowedDomains, which is empty");
    network.disabled = true;
    EXPECT_TRUE(explain_host(compiled(network), "a.b:80").allowed);
}

TEST(ExplainConnect, WhatIsNoTargetIsNamed) {
    for (const char* target : {"a.b", "a.b:0", "a.b:x", "u@a.b:80", "http://a.b", "https://a.b:443/x"}) {
        try {
            (void)explain_host(compiled({}), target);
            ADD_FAILURE() << target;
        } catch (const Error& error) {
            EXPECT_NE(error.text().find("accepted: HOST:PORT"), std::string::npos) << error.text();
            EXPECT_NE(error.text().find("a UNIX socket, with a / in it"), std::string::npos) << error.text();
        }
    }
}

TEST(ExplainConnect, AnIpv6AddressWithoutBracketsIsToldOfThem) {
    for (const char* target : {"::1:80", "2001:db8::1", "::1"}) {
        try {
            (void)explain_host(compiled({}), target);
            ADD_FAILURE() << target;
        } catch (const Error& error) {
            EXPECT_NE(error.text().find("stands in brackets, as in [::1]:443"), std::string::npos) << error.text();
        }
    }
}

TEST(ExplainConnect, GuessworkIsRefusedAsByTheProxies) {
    NetworkPolicy network;
    network.allowed_domains = {"127.0.0.1", "a.b"};
    EXPECT_TRUE(explain_host(compiled(network), "127.0.0.1:80").allowed);
    const Explanation guess = explain_host(compiled(network), "127.1:80");
    EXPECT_FALSE(guess.allowed);
    EXPECT_NE(guess.rule.find("ends in a number"), std::string::npos) << guess.rule;
}

TEST(ExplainConnect, SocketsOfTheHost) {
    NetworkPolicy network;
    network.allow_unix_sockets = {"/run/ok"};
    const CompiledPolicy policy = compiled(network);
    const test::FakePathFacts facts;
    const SessionView view(policy, facts);
    EXPECT_TRUE(explain_socket(policy, "/run/ok", view).allowed);
    EXPECT_TRUE(explain_socket(policy, "/run/../run//ok", view).allowed);
    EXPECT_EQ(explain_socket(policy, "/run/bad", view).rule, "not in allowUnixSockets");
}

}  // namespace
}  // namespace sandpipe
