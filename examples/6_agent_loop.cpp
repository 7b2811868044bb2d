// An agent's loop: a model asks for commands, reads what comes back, and corrects itself. The model here is a
// script, so that everybody can run this; a real one would get RunShellCommandTool::anthropic_definition()
// and the same texts.
#include <sandpipe/sandpipe.hpp>
#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include "in_workspace.hpp"

using namespace sandpipe;
namespace fs = std::filesystem;
using nlohmann::json;

// Answers a tool's result with the next call, or with nothing when it is content.
class ScriptedModel {
  public:
    std::optional<json> next(const std::string& read) {
        const auto says = [&](const char* words) { return read.find(words) != std::string::npos; };
        if (read.empty()) return ask("sudo sort -n numbers > /srv/sorted");
        if (says("declined with this note: no sudo")) return ask("sort -n numbers > /srv/sorted");
        if (says("denied: write /srv/sorted (outside the writable roots: .)"))
            return ask("sort -n numbers > sorted && cat sorted");
        return std::nullopt;
    }

  private:
    static json ask(const std::string& command) {
        std::cout << "model: " << command << "\n";
        return {{"command", command}, {"timeout_seconds", 10}};
    }
};

// Who answers for the commands. A person could be asked here: it may wait.
awaitable<GateDecision> decide(std::string command) {
    if (command.starts_with("sudo ")) co_return Declined{"no sudo, you need no more rights for this"};
    co_return Approved{};
}

awaitable<bool> run_agent(Runtime& runtime, fs::path workspace) {
    std::ofstream(workspace / "numbers") << "10\n2\n1\n";
    SrtEnforcerOptions session;
    session.workspace = workspace.string();
    session.policy.filesystem.allow_write = {"."};
    RunShellCommandToolOptions options;
    options.enforcer = co_await srt_enforcer(runtime, std::move(session));
    options.gate = [](const ToolRequest& request) { return decide(request.command); };
    options.gate_timeout = std::chrono::minutes{5};
    const RunShellCommandTool tool(std::move(options));

    ScriptedModel model;
    ToolResult result;
    int calls = 0;
    while (const std::optional<json> input = model.next(result.text)) {
        result = co_await tool.call(*input);
        std::cout << "tool:  " << result.text << "\n\n";
        ++calls;
    }
    co_await runtime.close();
    const bool as_shown =
        calls == 3 && !result.is_error && result.text.starts_with("1\n2\n10\n") && !fs::exists("/srv/sorted");
    co_return as_shown;
}

int main() { return run_in_workspace(run_agent); }
