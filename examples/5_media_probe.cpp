// Code that takes an executor, here one that makes and probes a video, runs in a sandbox by the one line that makes its
// executor. An audit sink hears what the sandbox refused, and which programs were let out of it.
#include <sandpipe/sandpipe.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "in_workspace.hpp"

using namespace sandpipe;
namespace fs = std::filesystem;

/// Knows nothing of sandboxes.
awaitable<BinaryExecResult> make_clip(std::shared_ptr<BinaryExecutor> executor, std::string file, fs::path cwd) {
    return executor->exec(command("ffmpeg")
                              .args("-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=duration=1:size=64x48:rate=5", file)
                              .cwd(cwd.string())
                              .timeout(std::chrono::seconds{30}));
}

awaitable<std::string> size_of(std::shared_ptr<BinaryExecutor> executor, std::string file, fs::path cwd) {
    const BinaryExecResult probed = co_await executor->exec(
        command("ffprobe").args("-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", file).cwd(cwd.string()));
    co_return probed.failed ? "failed: " + probed.err : probed.out;
}

std::string line_of(const AuditEvent& event) {
    std::string line(kind_name(event));
    if (const auto* bypass = std::get_if<Bypass>(&event.what))
        line += ": " + bypass->program + " (" + bypass->resolved + ") runs OUTSIDE of the sandbox" +
                (bypass->interpreter ? ", and it runs whatever it is told" : "");
    if (const auto* denied = std::get_if<DeniedAct>(&event.what))
        line += ": " + denied->denial.operation + " " + denied->denial.resolved;
    return line;
}

awaitable<bool> probe(Runtime& runtime, fs::path workspace) {
    std::vector<std::string> audit;
    SrtEnforcerOptions session;
    session.workspace = workspace.string();
    session.policy.filesystem.allow_write = {"."};
    session.policy.filesystem.deny_write = {"master.mkv"};

    SandboxedExecutorOptions options;
    options.inner = local_executor(runtime);
    options.sandbox = co_await srt_enforcer(runtime, std::move(session));
    options.on_sandbox = [&audit](const AuditEvent& event) {
        audit.push_back(line_of(event));
        std::cout << audit.back() << "\n";
    };
    std::shared_ptr<BinaryExecutor> executor = sandboxed_executor(options);

    // Names, because g++ 12 mishandles temporaries in a co_await expression.
    const std::string clip = "clip.mkv";
    const std::string master = "master.mkv";
    const BinaryExecResult made = co_await make_clip(executor, clip, workspace);
    const std::string inside = co_await size_of(executor, clip, workspace);
    std::cout << clip << ": " << inside << "\n";
    const BinaryExecResult refused = co_await make_clip(executor, master, workspace);
    std::cout << master << ": " << refused.err << "\n";

    // The same, with one program that may run unsandboxed.
    options.bypass = [](const std::string& program) { return program == "ffprobe"; };
    executor = sandboxed_executor(options);
    const std::string outside = co_await size_of(executor, clip, workspace);
    std::cout << clip << ", probed outside: " << outside << "\n";
    co_await runtime.close();
    co_return !made.failed && refused.failed && inside == "64,48" && outside == inside && audit.size() >= 2 &&
        audit.front().starts_with("denied: ") && audit.back().starts_with("bypass: ffprobe");
}

int main() {
    if (std::system("command -v ffmpeg ffprobe >/dev/null") != 0) {
        std::cout << "skipped: ffmpeg and ffprobe are not installed (Debian package ffmpeg)\n";
        return 0;
    }
    return run_in_workspace(probe);
}
