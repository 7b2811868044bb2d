#include "cli/policy_options.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_tree.hpp"

namespace sandpipe::cli {
namespace {

class PolicyFile : public ::testing::Test {
  protected:
    PolicyOptions with_file(const std::string& text) {
        const std::string file = directory_ / "settings.json";
        std::ofstream(file) << text;
        PolicyOptions options;
        options.settings = file;
        return options;
    }

    static std::string refused(const PolicyOptions& options) {
        try {
            static_cast<void>(make_policy(options));
        } catch (const Error& error) {
            EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
            return error.text();
        }
        return "accepted";
    }

    const testing::TempTree tree_;
    const std::filesystem::path directory_ = tree_.path();
};

using Patterns = std::vector<PathPattern>;

TEST_F(PolicyFile, WithoutOptionsTheWorkspaceIsWritable) {
    const SandboxPolicy policy = make_policy({});
    EXPECT_EQ(policy.filesystem.allow_write, Patterns{"."});
    EXPECT_TRUE(policy.filesystem.deny_read.empty());
}

TEST_F(PolicyFile, AllowWriteTakesThePlaceOfTheDefault) {
    PolicyOptions options;
    options.allow_write = {"out"};
    options.deny_read = {"secret"};
    const SandboxPolicy policy = make_policy(options);
    EXPECT_EQ(policy.filesystem.allow_write, Patterns{"out"});
    EXPECT_EQ(policy.filesystem.deny_read, Patterns{"secret"});
}

TEST_F(PolicyFile, OptionsAddToTheFile) {
    PolicyOptions options = with_file(R"({"filesystem":{"allowWrite":["a"],"denyWrite":["b"]}})");
    options.allow_write = {"c"};
    options.allow_domain = {"a.example"};
    options.deny_domain = {"b.example"};
    options.deny_write = {"d"};
    const SandboxPolicy policy = make_policy(options);
    EXPECT_EQ(policy.filesystem.allow_write, (Patterns{"a", "c"}));
    EXPECT_EQ(policy.filesystem.deny_write, (Patterns{"b", "d"}));
    EXPECT_EQ(policy.network.allowed_domains, std::vector<std::string>{"a.example"});
    EXPECT_EQ(policy.network.denied_domains, std::vector<std::string>{"b.example"});
}

TEST_F(PolicyFile, AFileWithoutWritesHasNone) {
    EXPECT_TRUE(make_policy(with_file("{}")).filesystem.allow_write.empty());
}

TEST_F(PolicyFile, WrongFilesAreNamed) {
    PolicyOptions missing;
    missing.settings = directory_ / "none.json";
    EXPECT_NE(refused(missing).find("none.json: No such file"), std::string::npos);
    PolicyOptions folder;
    folder.settings = directory_;
    EXPECT_NE(refused(folder).find("Is a directory"), std::string::npos);
    EXPECT_NE(refused(with_file("{\"filesystem\":")).find("settings.json: "), std::string::npos);
    EXPECT_NE(refused(with_file("{\"filesytem\":{}}")).find("settings.json: "), std::string::npos);
    EXPECT_NE(refused(with_file("\xff")).find("settings.json: "), std::string::npos);
    EXPECT_NE(refused(with_file(std::string(5 * 1024 * 1024, ' '))).find("larger"), std::string::npos);
}

TEST_F(PolicyFile, AKeyThatStandsTwiceLosesNoRule) {
    const std::string text =
        refused(with_file(R"({"filesystem":{"denyRead":["d"],"allowWrite":["."],"denyRead":[]}})"));
    EXPECT_NE(text.find("\"denyRead\" stands twice"), std::string::npos) << text;
    EXPECT_EQ(refused(with_file(R"({"filesystem":{"denyRead":[]},"network":{"allowedDomains":[]}})")), "accepted");
}

TEST_F(PolicyFile, ForeignSettingsWithTheirWarnings) {
    PolicyOptions options = with_file(R"({"filesystem":{"allowWrite":["a"]},"allowPty":true})");
    std::swap(options.settings, options.srt_settings);
    options.allow_exec = {"/bin/ls"};
    std::vector<std::string> warnings;
    const SandboxPolicy policy = make_policy(options, &warnings);
    EXPECT_EQ(policy.filesystem.allow_write, Patterns{"a"});
    EXPECT_EQ(policy.filesystem.allow_execute, Patterns{"/bin/ls"});
    EXPECT_TRUE(policy.filesystem.restrict_execute);
    EXPECT_EQ(warnings, std::vector<std::string>{"allowPty means nothing on Linux and is ignored"});
    options.srt_settings = directory_ / "none.json";
    EXPECT_NE(refused(options).find("--srt-settings " + *options.srt_settings + ": No such file"),
              std::string::npos);
}

}  // namespace
}  // namespace sandpipe::cli
