#include <sandpipe/error.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "process/command_core.hpp"
#include "process/start_request.hpp"
#include "sandbox/cell_session.hpp"
#include "sandbox/compile.hpp"
#include "sandbox/make_report.hpp"
#include "sandbox/path_facts.hpp"
#include "sandbox/session_base.hpp"

namespace sandpipe {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "dash", "zsh", "ksh"};

void check_shell(const std::string& shell) {
    const fs::path path(shell);
    const std::string name = path.filename().string();
    if (path.is_absolute() && std::find(kShells.begin(), kShells.end(), name) != kShells.end()) return;
    throw Error(Errc::invalid_sandbox_config,
                "binShell is \"" + shell + "\"; it must be an absolute path to sh, bash, dash, zsh or ksh");
}

SessionEnvironment environment_of(const SrtEnforcerOptions& options, const std::vector<std::string>& snapshot,
                                  std::vector<std::string> git_directories) {
    SessionEnvironment parts;
    const Environment host =
        options.inherit_host_env ? Environment::inherit_all() : Environment::names(options.env_allow_list);
    parts.host = host.resolve(snapshot);
    parts.snapshot = snapshot;
    parts.git_safe_directories = std::move(git_directories);
    return parts;
}

void make_directories(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        std::error_code error;
        fs::create_directories(path, error);
        if (error)
            throw Error(Errc::sandbox_failed,
                        "allowWrite: cannot create \"" + path + "\": " + error.message());
    }
}

class SrtEnforcer final : public SandboxEnforcer {
  public:
    SrtEnforcer(std::shared_ptr<detail::RuntimeCore> runtime, std::shared_ptr<CellSession> session,
                std::string bin_shell, EnforcementReport report, std::vector<std::string> warnings)
        : runtime_(std::move(runtime)),
          session_(std::move(session)),
          bin_shell_(std::move(bin_shell)),
          report_(std::move(report)),
          warnings_(std::move(warnings)) {}

    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
        invocation.fields().session = session_;
        co_return invocation;
    }

    awaitable<CommandStream> run(BinaryInvocation invocation) override {
        invocation.fields().session = session_;
        return detail::start_stream(runtime_, std::move(invocation));
    }

    [[nodiscard]] BinaryInvocation shell(std::string line) const override {
        BinaryInvocation invocation = command(bin_shell_).args("-c", std::move(line));
        invocation.fields().session = session_;
        return invocation;
    }

    awaitable<std::shared_ptr<SandboxEnforcer>> narrow(SandboxPolicy) override {
        throw Error(Errc::sandbox_narrowing_unsupported,
                    "narrowing a session is not supported yet: make a session of its own");
    }

    [[nodiscard]] const EnforcementReport& enforcement() const override { return report_; }
    [[nodiscard]] const std::vector<std::string>& warnings() const override { return warnings_; }

    awaitable<void> close() override {
        const auto runtime = runtime_;
        const auto session = session_;
        session->refuse_starts();
        std::function<void(detail::Completion<bool>)> end = [runtime,
                                                             session](detail::Completion<bool> done) {
            runtime->end_members(
                [&](const detail::RuntimeMember& member) { return member.session() == session.get(); },
                std::move(done));
        };
        co_await detail::await_completion<bool>(std::move(end));
        session->request_end();
    }

  private:
    const std::shared_ptr<detail::RuntimeCore> runtime_;
    const std::shared_ptr<CellSession> session_;
    const std::string bin_shell_;
    const EnforcementReport report_;
    const std::vector<std::string> warnings_;
};

}  // namespace

awaitable<std::shared_ptr<SandboxEnforcer>> srt_enforcer(Runtime& runtime, SrtEnforcerOptions options) {
    const auto core = runtime.core();
    core->check_usable();
    check_shell(options.bin_shell);
    if (options.enable_weaker_nested_sandbox)
        throw Error(Errc::invalid_sandbox_config, "enableWeakerNestedSandbox is not supported yet");
    const HostPathFacts host;
    CompiledPolicy compiled =
        compile(options.policy, find_workspace(options.workspace), find_home(detail::find_variable(core->environment(), "HOME")), host, options.bin_shell);
    SessionEnvironment environment =
        environment_of(options, core->environment(), compiled.git_safe_directories);
    make_directories(compiled.create_directories);
    CellStart start = co_await start_cell(core, compiled.plan);
    EnforcementReport report = make_report(start.facts, compiled.plan);
    auto session =
        std::make_shared<CellSession>(core, std::move(start), compiled.plan, std::move(environment));
    core->join(session->id(), session);
    std::shared_ptr<SandboxEnforcer> enforcer = std::make_shared<SrtEnforcer>(
        core, std::move(session), options.bin_shell, std::move(report), std::move(compiled.warnings));
    co_return enforcer;
}

}  // namespace sandpipe
