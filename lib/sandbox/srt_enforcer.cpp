#include <sandpipe/error.hpp>
#include <sandpipe/shell.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "process/audit_trail.hpp"
#include "process/command_core.hpp"
#include "process/start_request.hpp"
#include "sandbox/cell_session.hpp"
#include "sandbox/compile.hpp"
#include "sandbox/make_report.hpp"
#include "sandbox/path_facts.hpp"

namespace sandpipe {
namespace {

namespace fs = std::filesystem;

std::string workspace_of(const SrtEnforcerOptions& options) {
    std::error_code error;
    const fs::path asked = options.workspace.empty() ? fs::current_path(error) : fs::path(options.workspace);
    const fs::path real = error ? fs::path() : fs::canonical(asked, error);
    if (error)
        throw Error(Errc::invalid_sandbox_config,
                    "the workspace \"" + asked.string() + "\" cannot be used: " + error.message());
    if (!fs::is_directory(real, error))
        throw Error(Errc::invalid_sandbox_config,
                    "the workspace \"" + real.string() + "\" is not a directory");
    return real.string();
}

/// "~" of a policy: HOME as the Runtime found it, else what the user database says.
std::string home_of(const std::vector<std::string>& environment) {
    if (const char* home = detail::find_variable(environment, "HOME"); home && *home == '/') return home;
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found)
        return found->pw_dir;
    return {};
}

void check_names(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!names[i].empty() && names[i].find_first_of(std::string_view("=\0", 2)) == std::string::npos) continue;
        throw Error(Errc::invalid_sandbox_config,
                    "envAllowList[" + std::to_string(i) + "] is \"" + names[i].substr(0, names[i].find('\0')) +
                        "\", which is no name of a variable; accepted: one that is not empty and has neither '=' nor"
                        " NUL in it");
    }
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

/// Throws for what could not be started in the session, by whatever executor.
void check_wrap(const CellSession& session, const InvocationFields& fields) {
    if (session.closed()) throw Error(Errc::sandbox_not_initialized, "the sandbox session is closed");
    if (fields.session && fields.session.get() != &session)
        throw Error(Errc::sandbox_policy_conflict,
                    "the invocation belongs to another sandbox session already: one command runs in one session");
    detail::check_invocation(fields);
    (void)session.environment(fields.env);
}

/// What concerns the session as a whole is told to each sink once.
void tell_warnings(const CellSession& session, const std::vector<std::string>& warnings,
                   const InvocationFields& fields) {
    if (!fields.audit || !fields.audit->book().introduces(session.id())) return;
    for (const std::string& warning : warnings) fields.audit->record(0, PolicyWarning{warning});
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

    // The coroutine has copies: it may begin after this object has gone.
    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
        return wrap_in(session_, warnings_, std::move(invocation));
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
    static awaitable<BinaryInvocation> wrap_in(std::shared_ptr<CellSession> session,
                                               std::vector<std::string> warnings, BinaryInvocation invocation) {
        InvocationFields& fields = invocation.fields();
        check_wrap(*session, fields);
        tell_warnings(*session, warnings, fields);
        if (!fields.entry) {
            fields.session = session;
            session->entrance().admit(fields);
        }
        co_return invocation;
    }

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
    check_bin_shell(options.bin_shell);
    check_names(options.env_allow_list);
    if (options.enable_weaker_nested_sandbox)
        throw Error(Errc::invalid_sandbox_config, "enableWeakerNestedSandbox is not supported yet");
    const HostPathFacts host;
    CompiledPolicy compiled =
        compile(options.policy, workspace_of(options), home_of(core->environment()), host);
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
