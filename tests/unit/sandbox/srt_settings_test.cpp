#include <sandpipe/error.hpp>
#include <sandpipe/srt_settings.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "support/mentions.hpp"

namespace sandpipe {
namespace {

using Patterns = std::vector<PathPattern>;
using Texts = std::vector<std::string>;

SrtSettings read(const char* text) { return from_srt_settings(nlohmann::json::parse(text)); }

std::string refused(const char* text) {
    try {
        (void)read(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        return error.text();
    }
    return "accepted";
}

// The next ones have the shapes that the package's own description shows.

TEST(SrtSettings, ForAServerOfTools) {
    const SrtSettings settings = read(R"({
        "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": ["~/sensitive-folder"]},
        "network": {"allowedDomains": [], "deniedDomains": []}})");
    EXPECT_EQ(settings.policy.filesystem.allow_write, Patterns{"."});
    EXPECT_EQ(settings.policy.filesystem.deny_write, Patterns{"~/sensitive-folder"});
    EXPECT_EQ(settings.policy.filesystem.missing_allow_write, MissingAllowWrite::skip);
    EXPECT_TRUE(settings.warnings.empty());
}

TEST(SrtSettings, SpecificDirectories) {
    const SrtSettings settings = read(R"({
        "network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {"denyRead": ["~/.ssh"], "allowWrite": [".", "src/", "test/"],
                       "denyWrite": [".env", "secrets/"]}})");
    EXPECT_EQ(settings.policy.filesystem.deny_read, Patterns{"~/.ssh"});
    EXPECT_EQ(settings.policy.filesystem.allow_write, (Patterns{".", "src/", "test/"}));
}

TEST(SrtSettings, TheWorkspaceOnly) {
    const SrtSettings settings = read(R"({
        "network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {"denyRead": ["/home"], "allowRead": ["."], "allowWrite": ["."], "denyWrite": []}})");
    EXPECT_EQ(settings.policy.filesystem.allow_read, Patterns{"."});
    EXPECT_TRUE(settings.warnings.empty());
}

TEST(SrtSettings, DomainsAreJudgedAsInOurOwnFiles) {
    // Network rules are read into the policy; what this version enforces decides about them.
    const char* file = R"({
        "network": {"allowedDomains": ["github.com", "*.github.com"], "deniedDomains": []},
        "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}})";
    std::string own = "accepted";
    try {
        (void)SandboxPolicy::from_json(nlohmann::json::parse(file));
    } catch (const Error& error) {
        own = error.text();
    }
    EXPECT_EQ(refused(file), own);
}

TEST(SrtSettings, AllThatMeansNothingHereIsAWarning) {
    const SrtSettings settings = read(R"({
        "network": {"allowedDomains": [], "deniedDomains": [], "allowUnixSockets": ["/var/run/docker.sock"],
                    "allowLocalBinding": false, "allowAllUnixSockets": true, "strictAllowlist": true},
        "filesystem": {"denyRead": ["~/.ssh"], "allowRead": [], "allowWrite": [".", "src/", "test/", "/tmp"],
                       "denyWrite": [".env", "config/production.json"]},
        "ignoreViolations": {"*": ["/usr/bin", "/System"], "git push": ["/usr/bin/nc"]},
        "enableWeakerNestedSandbox": false, "allowNestedUserNamespaces": false,
        "enableWeakerNetworkIsolation": false, "allowAppleEvents": false})");
    EXPECT_EQ(settings.warnings,
              (Texts{"allowAppleEvents means nothing on Linux and is ignored",
                     "enableWeakerNetworkIsolation means nothing on Linux and is ignored",
                     "ignoreViolations means nothing to sandpipe and is ignored",
                     "network.allowAllUnixSockets means nothing to sandpipe and is ignored",
                     "network.allowLocalBinding means nothing on Linux and is ignored",
                     "network.allowUnixSockets means nothing on Linux and is ignored"}));
    EXPECT_TRUE(settings.policy.network.allow_unix_sockets.empty());
}

TEST(SrtSettings, AFileMakesNoSandboxWeaker) {
    const SrtSettings settings = read(R"({"enableWeakerNestedSandbox": true})");
    ASSERT_EQ(settings.warnings.size(), 1U);
    EXPECT_NE(settings.warnings[0].find("--weaker-nested"), std::string::npos) << settings.warnings[0];
}

TEST(SrtSettings, LiteralPathsGlobsAndGit) {
    const SrtSettings settings = read(R"({
        "$schema": "x", "git": {"safeDirectories": ["/repo"]}, "ripgrep": {"command": "rg"},
        "filesystem": {"denyRead": [{"path": "/srv/*.env", "literal": true}, "**/build/**"],
                       "allowWrite": ["src/**"], "denyWrite": [], "allowGitConfig": true}})");
    ASSERT_EQ(settings.policy.filesystem.deny_read.size(), 2U);
    EXPECT_TRUE(settings.policy.filesystem.deny_read[0].literal);
    EXPECT_FALSE(settings.policy.filesystem.deny_read[1].literal);
    EXPECT_TRUE(settings.policy.filesystem.allow_git_config);
    EXPECT_EQ(settings.policy.filesystem.git_safe_directories, (Patterns{".", "/repo"}));
}

TEST(SrtSettings, CredentialFilesCannotBeRead) {
    const SrtSettings settings = read(R"({
        "credentials": {"files": [{"path": "~/.aws", "mode": "deny"}, {"path": "~/.npmrc", "mode": "mask"}],
                        "envVars": [{"name": "TOKEN", "mode": "deny"}]},
        "filesystem": {"denyRead": ["~/.ssh"], "allowWrite": [], "denyWrite": []}})");
    EXPECT_EQ(settings.policy.filesystem.deny_read, (Patterns{"~/.ssh", "~/.aws", "~/.npmrc"}));
    EXPECT_EQ(settings.warnings.size(), 2U);
    EXPECT_TRUE(
        mentions(refused(R"({"filesystem": {"disabled": true}, "credentials": {"files": [{"path": "x"}]}})"),
                 "credentials.files"));
}

TEST(SrtSettings, DisabledFilesystem) {
    EXPECT_TRUE(read(R"({"filesystem": {"disabled": true, "allowWrite": []}})").policy.filesystem.disabled);
    EXPECT_EQ(read("{}").policy.filesystem.allow_write, Patterns{});
}

TEST(SrtSettings, WhatWouldRestrictAndIsNotEnforcedIsAnError) {
    for (const char* key :
         {"deniedResolvedAddresses", "httpProxyPort", "socksProxyPort", "mitmProxy", "requireHostMatch"}) {
        nlohmann::json file;
        file["network"][key] = {"10.0.0.0/8"};
        EXPECT_TRUE(mentions(refused(file.dump().c_str()), std::string("network.") + key)) << key;
        file["network"][key] = false;
        EXPECT_EQ(refused(file.dump().c_str()), "accepted") << key;
    }
}

TEST(SrtSettings, WrongFilesAreNamed) {
    EXPECT_TRUE(mentions(refused("[]"), "the settings is [] (array)"));
    EXPECT_TRUE(mentions(refused(R"({"filesystem": []})"), "filesystem is []"));
    EXPECT_TRUE(mentions(refused(R"({"filesystem": {"denyReads": []}})"),
                         "denyReads is not a known key; the nearest"));
    EXPECT_TRUE(mentions(refused(R"({"netwrk": {}})"),
                         "netwrk is not a known key; the nearest known key is network"));
    EXPECT_TRUE(
        mentions(refused(R"({"filesystem": {"denyRead": [""]}})"), "filesystem.denyRead[0] is empty"));
    EXPECT_TRUE(mentions(refused(R"({"credentials": {"files": ["x"]}})"), "credentials.files[0]"));
    for (const char* mode : {"1", "null", "{}"}) {
        const std::string file = R"({"credentials": {"files": [{"path": "x", "mode": )" + std::string(mode) + "}]}}";
        EXPECT_TRUE(mentions(refused(file.c_str()), "credentials.files[0].mode is")) << mode;
    }
    EXPECT_TRUE(mentions(refused(R"({"git": {"safeDirectories": ["/a", "*"]}})"), "git.safeDirectories[1] is \"*\""));
    EXPECT_TRUE(mentions(refused(R"({"bogus": 1})"), "bogus is not a known key; accepted here: credentials"));
    // Ours only: a file of theirs that has it was not made for them.
    EXPECT_TRUE(mentions(refused(R"({"filesystem": {"allowExecute": []}})"), "not a known key"));
}

}  // namespace
}  // namespace sandpipe
