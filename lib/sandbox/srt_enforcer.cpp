#include <sandpipe/error.hpp>
#include <sandpipe/shell.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "process/aside.hpp"
#include "process/audit_trail.hpp"
#include "process/command_core.hpp"
#include "process/shielded.hpp"
#include "process/start_request.hpp"
#include "sandbox/cell_failure.hpp"
#include "sandbox/cell_session.hpp"
#include "sandbox/make_directories.hpp"
#include "sandbox/make_enforcer.hpp"
#include "sandbox/make_report.hpp"
#include "sandbox/narrow_policy.hpp"
#include "sandbox/narrowing.hpp"
#include "sandbox/network/proxy_variables.hpp"
#include "sandbox/policy/compile.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "sandbox/session_base.hpp"

namespace sandpipe {
namespace {

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

/// Else it would run with the rights of whichever session it is given to.
void check_session(const CellSession& session, const InvocationFields& fields) {
    if (fields.session && fields.session.get() != &session)
        throw Error(Errc::sandbox_policy_conflict,
                    "the invocation belongs to another sandbox session already: one command runs in one session");
}

/// Throws for what could not be started in the session, by whatever executor.
void check_wrap(const CellSession& session, const InvocationFields& fields) {
    if (session.closed()) throw Error(Errc::sandbox_not_initialized, "the sandbox session is closed");
    check_session(session, fields);
    detail::check_invocation(fields);
    (void)session.environment(fields.env);
}

constexpr std::string_view kLate =
    "the places that the policy names could not be looked at in time: a file system hangs";

/// All that looks at the file system before there is a session.
CompiledPolicy lay_groundwork(const SrtEnforcerOptions& options, const std::string& home,
                              const CompiledPolicy* wider) {
    CompiledPolicy compiled =
        compile(options.policy, find_workspace(options.workspace), home, HostPathFacts(), options.bin_shell, wider);
    make_directories(compiled.create_directories);
    return compiled;
}

/// As a Runtime's sessions all have it, whatever the host does to its variables meanwhile. May ask the user database,
/// which may be far away.
std::string home_in(const std::vector<std::string>& environment) {
    return find_home(detail::find_variable(environment, "HOME"));
}

/// Where a narrower session comes from.
struct Origin {
    std::shared_ptr<const CompiledPolicy> wider;
    std::string narrowing;  ///< what was taken away
};

struct Foundation {
    CompiledPolicy compiled;
    CellStart start;
};

/// What another program replaces meanwhile is looked at anew, some times and some seconds: who exchanges a granted place
/// for ever wins each try by chance.
awaitable<Foundation> lay_foundation(std::shared_ptr<detail::RuntimeCore> core, SrtEnforcerOptions options,
                                     std::shared_ptr<const CompiledPolicy> wider, std::chrono::nanoseconds limit) {
    constexpr int kFewestTries = 8;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    core->check_usable();  // its context may have gone
    const std::function<CompiledPolicy()> work = [options, wider, environment = core->environment()] {
        return lay_groundwork(options, home_in(environment), wider.get());
    };
    for (int tries = 1;; ++tries) {
        Foundation made;
        std::function<CompiledPolicy()> again = work;
        made.compiled = co_await detail::call_aside(core->executor(), std::move(again), limit, std::string(kLate));
        made.compiled.plan.allow_weaker = options.enable_weaker_nested_sandbox;
        try {
            made.start = co_await start_cell(core, made.compiled.plan, limit);
            co_return made;
        } catch (const PlaceChanged&) {
            if (tries >= kFewestTries && std::chrono::steady_clock::now() >= until) throw;
        }
    }
}

/// What concerns a session as a whole.
struct SessionFacts {
    EnforcementReport report;
    std::vector<std::string> warnings;
    std::string narrowing;  ///< what was taken away from the session that it was made from; "" for any other
};

/// Told to each sink once.
void tell_session(const CellSession& session, const SessionFacts& facts, const InvocationFields& fields) {
    if (!fields.audit || !fields.audit->book().introduces(session.id())) return;
    if (!facts.narrowing.empty()) fields.audit->record(0, Narrowed{facts.narrowing});
    for (const Mechanism& mechanism : facts.report.mechanisms)
        if (mechanism.given_up) fields.audit->record(0, Weaker{mechanism.name, mechanism.detail});
    for (const std::string& warning : facts.warnings) fields.audit->record(0, PolicyWarning{warning});
}

awaitable<std::shared_ptr<SandboxEnforcer>> make_session(std::shared_ptr<detail::RuntimeCore> core,
                                                         SrtEnforcerOptions options, ProxySettings proxies,
                                                         Origin origin, std::chrono::nanoseconds limit);

class SrtEnforcer final : public SandboxEnforcer {
  public:
    SrtEnforcer(std::shared_ptr<detail::RuntimeCore> runtime, std::shared_ptr<CellSession> session,
                SrtEnforcerOptions options, std::shared_ptr<const CompiledPolicy> compiled, ProxySettings proxies,
                SessionFacts facts)
        : runtime_(std::move(runtime)),
          session_(std::move(session)),
          options_(std::move(options)),
          compiled_(std::move(compiled)),
          proxies_(std::move(proxies)),
          facts_(std::move(facts)) {}

    // The coroutine has copies: it may begin after this object has gone.
    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
        return wrap_in(session_, facts_, std::move(invocation));
    }

    awaitable<CommandStream> run(BinaryInvocation invocation) override {
        check_session(*session_, invocation.fields());
        invocation.fields().session = session_;
        return detail::start_stream(runtime_, std::move(invocation));
    }

    [[nodiscard]] BinaryInvocation shell(std::string line) const override {
        BinaryInvocation invocation = command(options_.bin_shell).args("-c", std::move(line));
        invocation.fields().session = session_;
        return invocation;
    }

    awaitable<std::shared_ptr<SandboxEnforcer>> narrow(SandboxPolicy policy) override {
        if (session_->closed()) throw Error(Errc::sandbox_not_initialized, "the sandbox session is closed");
        return narrow_session(runtime_, options_, compiled_, std::move(policy), proxies_);
    }

    [[nodiscard]] const SandboxPolicy& policy() const override { return options_.policy; }
    [[nodiscard]] const EnforcementReport& enforcement() const override { return facts_.report; }
    [[nodiscard]] const std::vector<std::string>& warnings() const override { return facts_.warnings; }

    awaitable<void> close() override { return detail::shielded(close_session(runtime_, session_)); }

  private:
    static awaitable<void> close_session(std::shared_ptr<detail::RuntimeCore> runtime,
                                         std::shared_ptr<CellSession> session) {
        session->refuse_starts();
        std::function<void(detail::Completion<bool>)> end = [runtime,
                                                             session](detail::Completion<bool> done) {
            runtime->end_members(
                [&](const detail::RuntimeMember& member) { return member.session() == session.get(); },
                std::move(done));
        };
        co_await detail::await_completion<bool>(std::move(end));
        std::function<void(detail::Completion<bool>)> leave = [runtime,
                                                               session](detail::Completion<bool> done) {
            const detail::RuntimeMember* own = session.get();
            runtime->end_members([own](const detail::RuntimeMember& member) { return &member == own; },
                                 std::move(done));
        };
        co_await detail::await_completion<bool>(std::move(leave));
    }

    static awaitable<std::shared_ptr<SandboxEnforcer>> narrow_session(std::shared_ptr<detail::RuntimeCore> runtime,
                                                                      SrtEnforcerOptions wide,
                                                                      std::shared_ptr<const CompiledPolicy> compiled,
                                                                      SandboxPolicy asked, ProxySettings proxies) {
        runtime->check_usable();
        SrtEnforcerOptions narrower = wide;
        std::function<SandboxPolicy()> narrow = [wide, compiled, asked = std::move(asked),
                                                 environment = runtime->environment()] {
            const WideSession session{wide.policy, *compiled, home_in(environment), wide.bin_shell};
            return narrow_policy(session, asked);
        };
        narrower.policy =
            co_await detail::call_aside(runtime->executor(), std::move(narrow), kStartTimeout, std::string(kLate));
        Origin origin{std::move(compiled), describe_narrowing(wide.policy, narrower.policy)};
        co_return co_await make_session(runtime, std::move(narrower), std::move(proxies), std::move(origin),
                                        kStartTimeout);
    }

    static awaitable<BinaryInvocation> wrap_in(std::shared_ptr<CellSession> session, SessionFacts facts,
                                               BinaryInvocation invocation) {
        InvocationFields& fields = invocation.fields();
        check_wrap(*session, fields);
        tell_session(*session, facts, fields);
        if (!fields.entry) {
            fields.session = session;
            session->entrance().admit(fields);
        }
        co_return invocation;
    }

    const std::shared_ptr<detail::RuntimeCore> runtime_;
    const std::shared_ptr<CellSession> session_;
    const SrtEnforcerOptions options_;  // the workspace resolved
    const std::shared_ptr<const CompiledPolicy> compiled_;  // without its network rules
    const ProxySettings proxies_;
    const SessionFacts facts_;
};

}  // namespace

awaitable<std::shared_ptr<SandboxEnforcer>> srt_enforcer(Runtime& runtime, SrtEnforcerOptions options) {
    return make_enforcer(runtime, std::move(options), {});
}

awaitable<std::shared_ptr<SandboxEnforcer>> make_enforcer(Runtime& runtime, SrtEnforcerOptions options,
                                                          ProxySettings proxies,
                                                          std::chrono::nanoseconds start_timeout) {
    const auto core = runtime.core();
    core->check_usable();
    check_bin_shell(options.bin_shell);
    check_names(options.env_allow_list);
    // Relative to the cwd of now; what stands there is looked at aside.
    std::error_code unknown;
    const std::filesystem::path here = std::filesystem::current_path(unknown);
    if (!unknown) options.workspace = (here / options.workspace).string();
    return make_session(core, std::move(options), std::move(proxies), Origin(), start_timeout);
}

namespace {

awaitable<std::shared_ptr<SandboxEnforcer>> make_session(std::shared_ptr<detail::RuntimeCore> core,
                                                         SrtEnforcerOptions options, ProxySettings proxies,
                                                         Origin origin, std::chrono::nanoseconds limit) {
    core->check_usable();
    Foundation foundation = co_await lay_foundation(core, options, origin.wider, limit);
    CompiledPolicy& compiled = foundation.compiled;
    CellStart& start = foundation.start;
    options.workspace = compiled.plan.workspace;
    SessionEnvironment environment =
        environment_of(options, core->environment(), compiled.git_safe_directories);
    if (!compiled.domains.empty())
        environment.network = proxy_variables(compiled.domains, compiled.plan.filesystem_enforced);
    SessionFacts facts{make_report(start.facts, compiled.plan), std::move(compiled.warnings),
                       std::move(origin.narrowing)};
    std::vector<unique_fd> listeners = std::move(start.listeners);
    auto session =
        std::make_shared<CellSession>(core, std::move(start), compiled, std::move(environment));
    core->join(session->id(), session);
    if (!listeners.empty()) session->serve_proxies(std::move(listeners), std::move(compiled.domains), proxies);
    std::shared_ptr<SandboxEnforcer> enforcer = std::make_shared<SrtEnforcer>(
        core, std::move(session), std::move(options), std::make_shared<const CompiledPolicy>(std::move(compiled)),
        std::move(proxies), std::move(facts));
    co_return enforcer;
}

}  // namespace

}  // namespace sandpipe
