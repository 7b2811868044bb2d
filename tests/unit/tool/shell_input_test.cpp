#include "tool/shell_input.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <utility>

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
    const std::string accepted =
        "; it must be a string that is not empty and has no NUL: a line for the shell";
    EXPECT_EQ(refused(json::object()), "command is missing" + accepted);
    const std::pair<json, std::string> bad_commands[] = {{1, "1"},
                                                         {"", "\"\""},
                                                         {nullptr, "null"},
                                                         {std::string("a\0b", 3), R"("a\u0000b")"},
                                                         {json::array(), "[]"}};
    for (const auto& [value, shown] : bad_commands)
        EXPECT_EQ(refused({{"command", value}}), "command is " + shown + accepted);
    EXPECT_EQ(refused({{"command", "x"}, {"cwd", 1}}),
              "cwd is 1; it must be a string: a path relative to the workspace");
    const json bad_timeouts[] = {
        0,       -1,    86401,         1.5, "5", nullptr, true, 18446744073709551615ULL, 4294967297LL,
        86400.5, 1e300, json::object()};
    for (const json& timeout : bad_timeouts) {
        EXPECT_EQ(refused({{"command", "x"}, {"timeout_seconds", timeout}}),
                  "timeout_seconds is " + timeout.dump() + "; it must be a whole number from 1 to 86400");
    }
    EXPECT_EQ(refused({{"command", "x"}, {"timeout", 5}}),
              "\"timeout\" is no field of run_shell_command; there are command, cwd and timeout_seconds; did "
              "you mean "
              "timeout_seconds?");
    EXPECT_NE(refused({{"comand", "x"}}).find("did you mean command?"), std::string::npos);
    EXPECT_NE(refused({{"cmd", "x"}}).find("did you mean command?"), std::string::npos);
    EXPECT_EQ(refused({{"run_in_background", true}}).find("did you mean"), std::string::npos);
    EXPECT_EQ(refused(json::array()).find("the input is []; it must be an object"), 0U);
    EXPECT_EQ(refused("ls").find("the input is \"ls\"; it must be an object"), 0U);
}

TEST(ShellInput, ALongOrBrokenValueIsShownInPart) {
    const std::string text = refused(json::array({std::string(10'000, 'x')}));
    EXPECT_LT(text.size(), 300U);
    EXPECT_NE(text.find("10004 bytes"), std::string::npos) << text;
    EXPECT_NE(refused("\xff").find("the input is"), std::string::npos);
}

TEST(ShellInput, AWholeNumberMayBeWrittenAsAFraction) {
    EXPECT_EQ(parse_shell_input(json{{"command", "x"}, {"timeout_seconds", 5.0}}).timeout, 5s);
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
