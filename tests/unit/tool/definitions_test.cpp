// The tool's definition in the form of each API, as their references give it.
#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <gtest/gtest.h>

#include <set>

namespace sandpipe {
namespace {

using nlohmann::json;

std::set<std::string> keys(const json& object) {
    std::set<std::string> names;
    for (const auto& entry : object.items()) names.insert(entry.key());
    return names;
}

using Keys = std::set<std::string>;

TEST(Definitions, OpenAiChatCompletions) {
    const json made = RunShellCommandTool::openai_definition();
    EXPECT_EQ(keys(made), (Keys{"type", "function"}));
    EXPECT_EQ(made["type"], "function");
    EXPECT_EQ(keys(made["function"]), (Keys{"name", "description", "parameters", "strict"}));
    EXPECT_EQ(made["function"]["parameters"], RunShellCommandTool::input_schema());
    EXPECT_EQ(made["function"]["strict"], false);
}

TEST(Definitions, OpenAiResponses) {
    const json made = RunShellCommandTool::openai_responses_definition();
    EXPECT_EQ(keys(made), (Keys{"type", "name", "description", "parameters", "strict"}));
    EXPECT_EQ(made["parameters"], RunShellCommandTool::input_schema());
}

TEST(Definitions, Anthropic) {
    const json made = RunShellCommandTool::anthropic_definition();
    EXPECT_EQ(keys(made), (Keys{"name", "description", "input_schema"}));
    EXPECT_EQ(made["input_schema"], RunShellCommandTool::input_schema());
    EXPECT_EQ(made["input_schema"]["type"], "object");
}

TEST(Definitions, Mcp) {
    const json made = RunShellCommandTool::mcp_definition();
    EXPECT_EQ(keys(made), (Keys{"name", "title", "description", "inputSchema", "annotations"}));
    EXPECT_EQ(made["inputSchema"], RunShellCommandTool::input_schema());
    EXPECT_EQ(made["annotations"]["readOnlyHint"], false);
    EXPECT_EQ(made["annotations"]["destructiveHint"], true);
}

TEST(Definitions, AllHaveTheSameNameAndFitTheLimits) {
    const json function = RunShellCommandTool::openai_definition()["function"];
    for (const json& made :
         {function, RunShellCommandTool::openai_responses_definition(),
          RunShellCommandTool::anthropic_definition(), RunShellCommandTool::mcp_definition()}) {
        EXPECT_EQ(made["name"], "run_shell_command");
        EXPECT_EQ(made["description"], RunShellCommandTool::description());
    }
    EXPECT_LT(RunShellCommandTool::description().size(), 1024U) << "OpenAI's limit";
    const json schema = RunShellCommandTool::input_schema();
    for (const auto& property : schema["properties"].items())
        EXPECT_TRUE(property.value().contains("description")) << property.key();
}

}  // namespace
}  // namespace sandpipe
