#include <sandpipe/tool/run_shell_command_tool.hpp>

#include "shell_input.hpp"

namespace sandpipe {

using nlohmann::json;

json RunShellCommandTool::input_schema() { return tool::shell_input_schema(); }

std::string RunShellCommandTool::description() { return tool::shell_description(); }

// Not strict: OpenAI's strict schemas know neither optional fields nor ranges. What a model gets wrong comes
// back to it as an error that names the field.

json RunShellCommandTool::openai_definition() {
    json function{
        {"name", kName}, {"description", description()}, {"parameters", input_schema()}, {"strict", false}};
    return {{"type", "function"}, {"function", std::move(function)}};
}

json RunShellCommandTool::openai_responses_definition() {
    return {{"type", "function"},
            {"name", kName},
            {"description", description()},
            {"parameters", input_schema()},
            {"strict", false}};
}

json RunShellCommandTool::anthropic_definition() {
    return {{"name", kName}, {"description", description()}, {"input_schema", input_schema()}};
}

json RunShellCommandTool::mcp_definition() {
    return {{"name", kName},
            {"title", "Run a shell command in a sandbox"},
            {"description", description()},
            {"inputSchema", input_schema()},
            {"annotations",
             {{"readOnlyHint", false},
              {"destructiveHint", true},
              {"idempotentHint", false},
              {"openWorldHint", true}}}};
}

}  // namespace sandpipe
