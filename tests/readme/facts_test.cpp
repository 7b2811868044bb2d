// What README.md says in tables is what the library says.
#include <sandpipe/error.hpp>
#include <sandpipe/policy.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "sandbox/policy/mandatory_denies.hpp"
#include "sandbox/policy/policy_schema.hpp"

namespace sandpipe {
namespace {

std::string read_readme() {
    std::ifstream file(SANDPIPE_README);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The line of a table for `name`, or "".
std::string row(const std::string& readme, const std::string& name) {
    const std::size_t begin = readme.find("\n| `" + name + "` |");
    return begin == std::string::npos ? "" : readme.substr(begin + 1, readme.find('\n', begin + 1) - begin);
}

bool shows(const std::string& readme, std::string_view name) {
    return readme.find("`" + std::string(name) + "`") != std::string::npos;
}

std::string help(const std::string& command) {
    return std::get<cli::ShowText>(cli::parse_options({command, "--help"})).text;
}

TEST(Readme, HasARowForEachPolicyKeyAndSaysWhichAreNotEnforced) {
    const std::string readme = read_readme();
    for (const PolicyKey& key : policy_keys()) {
        const std::string found = row(readme, key.dotted());
        ASSERT_FALSE(found.empty()) << key.dotted();
        EXPECT_EQ(found.find("not yet") == std::string::npos, key.enforced) << found;
    }
}

std::vector<nlohmann::json> json_blocks(const std::string& readme) {
    constexpr std::string_view kBegin = "\n```json\n";
    std::vector<nlohmann::json> blocks;
    for (std::size_t at = readme.find(kBegin); at != std::string::npos; at = readme.find(kBegin, at)) {
        at += kBegin.size();
        blocks.push_back(nlohmann::json::parse(readme.substr(at, readme.find("\n```", at) - at)));
    }
    return blocks;
}

TEST(Readme, ShowsPoliciesThatAreAccepted) {
    const auto blocks = json_blocks(read_readme());
    ASSERT_FALSE(blocks.empty());
    for (const nlohmann::json& block : blocks) EXPECT_NO_THROW((void)SandboxPolicy::from_json(block)) << block;
}

TEST(Readme, ShowsAFileWithEachKeyThatIsEnforced) {
    const auto blocks = json_blocks(read_readme());
    ASSERT_FALSE(blocks.empty());
    for (const PolicyKey& key : policy_keys()) {
        if (!key.enforced) continue;
        const nlohmann::json section = blocks.front().value(std::string(key.section), nlohmann::json::object());
        EXPECT_TRUE(section.contains(std::string(key.name))) << key.dotted();
    }
}

TEST(Readme, HasARowForEachErrorCode) {
    const std::string readme = read_readme();
    const std::string unknown(code_name(static_cast<Errc>(0)));
    int codes = 0;
    for (; code_name(static_cast<Errc>(codes + 1)) != unknown; ++codes) {
        const auto code = static_cast<Errc>(codes + 1);
        const std::string found = row(readme, std::string(code_name(code)));
        EXPECT_NE(found.find("| " + std::to_string(code_number(code)) + " |"), std::string::npos) << code_name(code);
    }
    EXPECT_EQ(codes, 10);
}

TEST(Readme, NamesEachMandatoryDeny) {
    const std::string readme = read_readme();
    for (const std::string_view name : kMandatoryDenies) EXPECT_TRUE(shows(readme, name)) << name;
}

TEST(Readme, NamesEachOptionOfTheCommand) {
    const std::string readme = read_readme();
    const std::regex option("--[a-z-]+");
    for (const std::string command : {"run", "exec", "explain"}) {
        const std::string text = help(command);
        for (std::sregex_iterator it(text.begin(), text.end(), option), end; it != end; ++it) {
            if (it->str() == "--help") continue;
            EXPECT_NE(readme.find("`" + it->str()), std::string::npos) << it->str();
        }
    }
}

}  // namespace
}  // namespace sandpipe
