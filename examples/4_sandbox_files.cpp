// Runs a shell command that may write in its workspace, but not everything there, and not outside.
#include <sandpipe/sandpipe.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "in_workspace.hpp"

using namespace sandpipe;
namespace fs = std::filesystem;

constexpr const char* kLine =
    "cat .env; echo changed > lock; echo outside > /etc/sandpipe-example; echo made > new; cat lock";

awaitable<bool> run_sandboxed(Runtime& runtime, fs::path workspace) {
    std::ofstream(workspace / ".env") << "PASSWORD=swordfish\n";
    std::ofstream(workspace / "lock") << "as before\n";
    SrtEnforcerOptions options;
    options.workspace = workspace.string();
    options.policy.filesystem.allow_write = {"."};
    options.policy.filesystem.deny_write = {"lock"};
    options.policy.filesystem.deny_read = {".env"};
    const auto sandbox = co_await srt_enforcer(runtime, std::move(options));

    // Denials stand in the stream where they happened: before the command's own complaint.
    CommandStream stream = co_await sandbox->run(sandbox->shell(kLine));
    TextRenderer renderer{std::string(stream.marker())};
    std::string text;
    while (const std::optional<OutputEvent> event = co_await stream.next()) text += renderer.render(*event);
    std::cout << text;
    co_await runtime.close();
    const auto denied = text.find("denied: write /etc/sandpipe-example");
    const auto complaint = text.find("/etc/sandpipe-example: Read-only");
    const bool as_shown = denied < complaint && complaint != text.npos && text.ends_with("as before\n") &&
                          text.find("swordfish") == text.npos && fs::exists(workspace / "new") &&
                          !fs::exists("/etc/sandpipe-example");
    co_return as_shown;
}

int main() { return run_in_workspace(run_sandboxed); }
