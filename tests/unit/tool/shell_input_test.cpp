#include "tool/shell_input.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sandpipe::tool {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

std::string refused(const json& input) {
    try {
        static_cast<void>(parse_shell_input(input));
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        return error.text();
    }
    return "accepted";
}

TEST(ShellInput, OnlyTheCommandIsNeeded) {
    const ToolRequest request = parse_shell_input(json{{"command", "ls"}});
    EXPECT_EQ(request.tool, "run_shell_command");
    EXPECT_EQ(request.command, "ls");
    EXPECT_EQ(request.cwd, "");
    EXPECT_EQ(request.timeout, 300s);
}

TEST(ShellInput, AllFields) {
    const ToolRequest request =
        parse_shell_input(json{{"command", "ls"}, {"cwd", "/src"}, {"timeout_seconds", 86400}});
    EXPECT_EQ(request.cwd, "/src");
    EXPECT_EQ(request.timeout, 86400s);
}

TEST(ShellInput, WrongFieldsAreNamed) {
    const json bad_commands[] = {json::object(),
                                 {{"command", 1}},
                                 {{"command", ""}},
                                 {{"command", nullptr}},
                                 {{"command", std::string("a\0b", 3)}}};
    for (const json& input : bad_commands) EXPECT_EQ(refused(input).find("command must be"), 0U) << input;
    EXPECT_EQ(refused({{"command", "x"}, {"cwd", 1}}).find("cwd must be"), 0U);
    const json bad_timeouts[] = {0,           -1, 86401, 1.5, "5", nullptr, true, 18446744073709551615ULL,
                                 4294967297LL};
    for (const json& timeout : bad_timeouts) {
        EXPECT_EQ(refused({{"command", "x"}, {"timeout_seconds", timeout}}),
                  "timeout_seconds must be a whole number from 1 to 86400")
            << timeout;
    }
    EXPECT_NE(refused({{"command", "x"}, {"timeout", 5}}).find("\"timeout\" is no field"), std::string::npos);
    EXPECT_EQ(refused(json::array()).find("the input must be an object"), 0U);
    EXPECT_EQ(refused("ls").find("the input must be an object"), 0U);
}

TEST(ShellInput, TheSchemaSaysTheSame) {
    const json schema = shell_input_schema();
    EXPECT_EQ(schema["required"], json::array({"command"}));
    EXPECT_EQ(schema["additionalProperties"], false);
    EXPECT_EQ(schema["properties"]["timeout_seconds"]["maximum"], 86400);
    EXPECT_EQ(schema["properties"].size(), 3U);
}

}  // namespace
}  // namespace sandpipe::tool
