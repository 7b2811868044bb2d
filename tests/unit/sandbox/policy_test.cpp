#include <sandpipe/error.hpp>
#include <sandpipe/policy.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

#include "sandbox/policy/check_supported.hpp"
#include "sandbox/policy/policy_schema.hpp"
#include "support/mentions.hpp"

namespace sandpipe {
namespace {

using nlohmann::json;

/// The text of the E_INVALID_SANDBOX_CONFIG that `act` throws, "" if it throws nothing.
std::string complaint(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config) << error.what();
        return error.text();
    }
    return {};
}

std::string complaint_of(const std::string& text) {
    return complaint([&] { (void)SandboxPolicy::from_json(json::parse(text)); });
}

TEST(PolicyJson, EmptyFileIsTheDefault) {
    EXPECT_EQ(SandboxPolicy::from_json(json::object()), SandboxPolicy{});
}

TEST(PolicyJson, ReadsACompleteFile) {
    const SandboxPolicy policy = SandboxPolicy::from_json(json::parse(R"({
        "filesystem": { "denyRead": ["~/.ssh"], "allowRead": [{"path": "a[1]", "literal": true}], "allowWrite": ["."],
            "denyWrite": [".env", "keys/**"], "allowGitConfig": true, "allowGitInit": false, "allowGitWorktree": false,
            "gitSafeDirectories": [".", "/src"], "mandatoryDenyExcept": [".vscode"], "missingAllowWrite": "create",
            "devices": ["/dev/kvm"], "disabled": false },
        "network": { "allowedDomains": [], "deniedDomains": [], "deniedDomainReasons": {}, "allowUnixSockets": [],
            "disabled": true },
        "limits": { "memoryBytes": 0, "pids": 0, "cpuSeconds": 0, "fileSizeBytes": 0, "openFiles": 0,
            "tmpBytes": 1048576, "bestEffort": true },
        "allowNestedUserNamespaces": false })"));
    EXPECT_EQ(policy.filesystem.deny_read, std::vector<PathPattern>{"~/.ssh"});
    ASSERT_EQ(policy.filesystem.allow_read.size(), 1U);
    EXPECT_TRUE(policy.filesystem.allow_read[0].literal);
    EXPECT_EQ(policy.filesystem.deny_write, (std::vector<PathPattern>{".env", "keys/**"}));
    EXPECT_TRUE(policy.filesystem.allow_git_config);
    EXPECT_EQ(policy.filesystem.missing_allow_write, MissingAllowWrite::create);
    EXPECT_EQ(policy.filesystem.devices, std::vector<std::string>{"/dev/kvm"});
    EXPECT_TRUE(policy.network.disabled);
    EXPECT_EQ(policy.limits.tmp_bytes, 1048576U);
    EXPECT_EQ(SandboxPolicy::from_json(policy.to_json()), policy);
}

TEST(PolicyJson, WritesEveryKeyButAnAbsentAllowExecute) {
    const json file = SandboxPolicy{}.to_json();
    for (const PolicyKey& key : policy_keys()) {
        const json& object = key.section.empty() ? file : file.at(std::string(key.section));
        EXPECT_EQ(object.contains(std::string(key.name)), key.name != "allowExecute") << key.dotted();
    }
    EXPECT_EQ(SandboxPolicy::from_json(file), SandboxPolicy{});
}

TEST(PolicyJson, WritesAnEmptyAllowExecute) {
    SandboxPolicy policy;
    policy.filesystem.restrict_execute = true;
    EXPECT_EQ(policy.to_json()["filesystem"]["allowExecute"], json::array());
}

TEST(PolicyJson, KeepsAListThatRestrictsByItself) {
    SandboxPolicy policy;
    policy.filesystem.allow_execute = {"/bin/true"};
    EXPECT_EQ(policy.to_json()["filesystem"]["allowExecute"], json::array({"/bin/true"}));
}

TEST(PolicyJson, UnknownKeyIsNamedWithItsPlaceAndTheNearest) {
    struct Case {
        const char* file;
        const char* place;
        const char* nearest;
    };
    const std::vector<Case> cases{
        {R"({"filesystem":{"denyRaed":[]}})", "filesystem.denyRaed", "filesystem.denyRead"},
        {R"({"filesystem":{"allow_write":[]}})", "filesystem.allow_write", "filesystem.allowWrite"},
        {R"({"filesystem":{"disable":true}})", "filesystem.disable", "filesystem.disabled"},
        {R"({"network":{"disable":true}})", "network.disable", "network.disabled"},
        {R"({"network":{"denyRead":[]}})", "network.denyRead", "filesystem.denyRead"},
        {R"({"filesytem":{}})", "filesytem", "filesystem"},
        {R"({"denyWrite":[]})", "denyWrite", "filesystem.denyWrite"},
        {R"({"limits":{"maxPids":1}})", "limits.maxPids", "limits.pids"},
        {R"({"allowNestedUserNamespace":true})", "allowNestedUserNamespace", "allowNestedUserNamespaces"},
    };
    for (const Case& c : cases) {
        const std::string text = complaint_of(c.file);
        EXPECT_TRUE(text.starts_with(std::string(c.place) + " is not a known key")) << text;
        EXPECT_TRUE(mentions(text, std::string("nearest known key is ") + c.nearest + ";")) << text;
    }
}

TEST(PolicyJson, WhereNoKeyIsNearNoneIsGuessed) {
    EXPECT_TRUE(mentions(complaint_of(R"({"env":{}})"), "env is not a known key; accepted here: "));
}

TEST(PolicyJson, WrongTypeNamesKeyFindingAndWhatIsAccepted) {
    struct Case {
        const char* file;
        std::vector<const char*> parts;
    };
    const std::vector<Case> cases{
        {R"([])", {"the policy", "array", "an object"}},
        {R"({"filesystem":[]})", {"filesystem is", "array", "an object"}},
        {R"({"filesystem":{"denyRead":"~/.ssh"}})",
         {"filesystem.denyRead is \"~/.ssh\"", "string", "a list of paths"}},
        {R"({"filesystem":{"denyRead":["a",7]}})", {"filesystem.denyRead[1] is 7", "number", "a path, or"}},
        {R"({"filesystem":{"denyRead":[null]}})", {"filesystem.denyRead[0] is null"}},
        {R"({"filesystem":{"denyRead":[{"literal":true}]}})", {"filesystem.denyRead[0]", "a path, or"}},
        {R"({"filesystem":{"denyRead":[{"path":"a","glob":true}]}})",
         {"filesystem.denyRead[0].glob is not a known key"}},
        {R"({"filesystem":{"denyRead":[{"path":"a","literal":1}]}})",
         {"denyRead[0].literal is 1", "true or false"}},
        {R"({"filesystem":{"devices":[1]}})", {"filesystem.devices[0] is 1", "a string"}},
        {R"({"filesystem":{"disabled":"yes"}})", {"filesystem.disabled is \"yes\"", "true or false"}},
        {R"({"filesystem":{"missingAllowWrite":"ignore"}})",
         {"missingAllowWrite is \"ignore\"", "\"create\" or \"skip\""}},
        {R"({"limits":{"tmpBytes":-1}})", {"limits.tmpBytes is -1", "a whole number"}},
        {R"({"limits":{"tmpBytes":1.5}})", {"limits.tmpBytes is 1.5", "a whole number"}},
        {R"({"network":{"deniedDomainReasons":[]}})",
         {"network.deniedDomainReasons is []", "an object of strings"}},
    };
    for (const Case& c : cases) {
        const std::string text = complaint_of(c.file);
        for (const char* part : c.parts)
            EXPECT_TRUE(mentions(text, part)) << c.file << "\n" << text << "\n" << part;
    }
}

/// Twins: the first asks for what is not enforced, the second is the same key at its default.
TEST(SupportedPolicy, WhatIsNotEnforcedYetIsAnError) {
    struct Case {
        const char* key;
        const char* asks;
        const char* harmless;
    };
    const std::vector<Case> cases{
        {"limits.memoryBytes", R"({"limits":{"memoryBytes":1}})", R"({"limits":{"memoryBytes":0}})"},
        {"limits.pids", R"({"limits":{"pids":1}})", R"({"limits":{"pids":0,"bestEffort":true}})"},
        {"limits.cpuSeconds", R"({"limits":{"cpuSeconds":1}})", R"({"limits":{"cpuSeconds":0}})"},
        {"limits.fileSizeBytes", R"({"limits":{"fileSizeBytes":1}})", R"({"limits":{"fileSizeBytes":0}})"},
        {"limits.openFiles", R"({"limits":{"openFiles":1}})",
         R"({"limits":{"openFiles":0,"tmpBytes":4096}})"},
        {"allowNestedUserNamespaces", R"({"allowNestedUserNamespaces":true})",
         R"({"allowNestedUserNamespaces":false})"},
    };
    for (const Case& c : cases) {
        const std::string text = complaint_of(c.asks);
        EXPECT_TRUE(text.starts_with(std::string(c.key) + " is not enforced by this version yet")) << text;
        EXPECT_EQ(complaint_of(c.harmless), "") << c.harmless;
    }
}

TEST(SupportedPolicy, HoldsForPoliciesBuiltInCpp) {
    SandboxPolicy policy;
    policy.limits.pids = 3;
    EXPECT_TRUE(mentions(complaint([&] { check_supported(policy); }), "limits.pids"));
    policy = {};
    policy.filesystem.deny_read = {PathPattern("/ok"), PathPattern(std::string("a\0b", 3))};
    EXPECT_TRUE(mentions(complaint([&] { check_supported(policy); }), "filesystem.denyRead[1] has a NUL"));
}

TEST(SupportedPolicy, DomainRulesWithoutNetworkIsolationAreAContradiction) {
    EXPECT_TRUE(mentions(complaint_of(R"({"network":{"disabled":true,"allowedDomains":["a.b"]}})"),
                         "network.disabled"));
    EXPECT_TRUE(mentions(complaint_of(R"({"network":{"disabled":true,"deniedDomains":["a.b"]}})"),
                         "network.disabled"));
    EXPECT_EQ(complaint_of(R"({"network":{"disabled":true}})"), "");
}

TEST(SupportedPolicy, DomainRulesAreChecked) {
    EXPECT_EQ(complaint_of(R"({"network":{"allowedDomains":["a.b"],"deniedDomains":["c.a.b"],)"
                           R"("deniedDomainReasons":{"C.a.b.":"no"}}})"),
              "");
    EXPECT_TRUE(
        mentions(complaint_of(R"({"network":{"allowedDomains":["a.b","*"]}})"), "network.allowedDomains[1]"));
    EXPECT_TRUE(
        mentions(complaint_of(R"({"network":{"deniedDomains":["a b"]}})"), "network.deniedDomains[0]"));
    EXPECT_TRUE(mentions(complaint_of(R"({"network":{"deniedDomainReasons":{"a.b":"no"}}})"), "\"a.b\""));
}

TEST(SupportedPolicy, PathsInEveryListAreChecked) {
    struct Case {
        PathPattern pattern;
        const char* part;  // "": fine
    };
    const std::vector<Case> cases{
        {"a", ""},
        {"a/b/**", ""},
        {"/**", ""},
        {"~", ""},
        {"~/x", ""},
        {"./~x", ""},
        {"", "is empty"},
        {"**", ""},
        {"*/../x", "cannot follow a glob"},
        {"a/[[:alpha:]]", "no classes"},
        {"~bob/x", "accepted after"},
    };
    for (const PolicyKey& key : policy_keys()) {
        if (!key.paths || !key.enforced) continue;
        for (const Case& c : cases) {
            const json file{{std::string(key.section), {{std::string(key.name), {"ok", c.pattern.path}}}}};
            const std::string text = complaint([&] { (void)SandboxPolicy::from_json(file); });
            if (*c.part == '\0') {
                EXPECT_EQ(text, "") << file;
            } else {
                EXPECT_TRUE(text.starts_with(key.dotted() + "[1] ") && mentions(text, c.part)) << text;
            }
        }
        const json literal{
            {std::string(key.section), {{std::string(key.name), {{{"path", "[WIP]*"}, {"literal", true}}}}}}};
        EXPECT_EQ(complaint([&] { (void)SandboxPolicy::from_json(literal); }), "");
    }
}

TEST(SupportedPolicy, GlobsAreForTheListsOfRules) {
    for (const char* glob : {"*.pem", "a/**/b", "a?", "[WIP]", "a/*/**", "~/.*"}) {
        const json rule{{"filesystem", {{"denyRead", {glob}}, {"allowWrite", {glob}}}}};
        EXPECT_EQ(complaint([&] { (void)SandboxPolicy::from_json(rule); }), "") << glob;
        const json safe{{"filesystem", {{"gitSafeDirectories", {".", glob}}}}};
        const std::string text = complaint([&] { (void)SandboxPolicy::from_json(safe); });
        EXPECT_TRUE(mentions(text, "filesystem.gitSafeDirectories[1]")) << text;
    }
}

TEST(SupportedPolicy, DevicesAreNodesBelowDev) {
    EXPECT_EQ(complaint_of(R"({"filesystem":{"devices":["/dev/kvm","/dev/dri/card0","/dev/nvidia*"]}})"), "");
    EXPECT_TRUE(mentions(complaint_of(R"({"filesystem":{"devices":["/etc/passwd"]}})"), "below /dev"));
    EXPECT_TRUE(mentions(complaint_of(R"({"filesystem":{"devices":["/dev/kvm",""]}})"),
                         "filesystem.devices[1] is empty"));
}

TEST(SupportedPolicy, MandatoryDenyExceptKnowsTheTable) {
    EXPECT_EQ(complaint_of(R"({"filesystem":{"mandatoryDenyExcept":[".vscode",".claude/agents"]}})"), "");
    const std::string text = complaint_of(R"({"filesystem":{"mandatoryDenyExcept":[".vscode",".vim"]}})");
    EXPECT_TRUE(mentions(text, "filesystem.mandatoryDenyExcept[1] is \".vim\"")) << text;
    EXPECT_TRUE(mentions(text, ".git/hooks")) << text;
}

}  // namespace
}  // namespace sandpipe
