// Uses something of each component, so that all of them are linked.
#include <sandpipe/sandpipe.hpp>
#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <nlohmann/json.hpp>

#include <asio/system_executor.hpp>

#include <iostream>

int main() {
    using namespace sandpipe;
    Runtime runtime{asio::system_executor()};
    const bool linked = local_executor(runtime)->path_domain() == PathDomain{} &&
                        SandboxPolicy::from_json(SandboxPolicy().to_json()) == SandboxPolicy() &&
                        RunShellCommandTool::input_schema().is_object() && SpooledArtifact().search("x").empty();
    std::cout << (linked ? "all components\n" : "wrong answers\n");
    return linked ? 0 : 1;
}
