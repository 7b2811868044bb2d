#include "tool_core.hpp"

#include <asio/this_coro.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "allowed_commands.hpp"
#include "gate_race.hpp"
#include "narrator.hpp"
#include "process/aside.hpp"
#include "process/session.hpp"
#include "shell_input.hpp"

namespace sandpipe::tool {
namespace {

constexpr std::size_t kSmallestText = 1000;
constexpr std::chrono::seconds kMostLooking{30};

[[noreturn]] void refuse_option(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

std::string workspace_of(const SandboxEnforcer& enforcer) {
    const auto session = enforcer.shell("").fields().session;
    if (!session)
        refuse_option("run_shell_command needs a workspace: this enforcer does not say which it has");
    return session->workspace();
}

RunShellCommandToolOptions checked(RunShellCommandToolOptions options) {
    if (!options.gate) {
        throw Error(Errc::sandbox_gate_required,
                    "run_shell_command needs a gate; one that approves everything is a choice");
    }
    if (!options.enforcer) refuse_option("run_shell_command needs an enforcer");
    if (options.gate_timeout && options.gate_timeout->count() <= 0)
        refuse_option("gate_timeout must be positive, or absent for a gate that may take any time");
    if (options.text_limit < kSmallestText)
        refuse_option("text_limit must be at least 1000 bytes, not " + std::to_string(options.text_limit));
    if (options.workspace.empty()) options.workspace = workspace_of(*options.enforcer);
    return options;
}

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// As it is named, and as the kernel names it.
void hide(PathRedactor& redactor, std::string_view place, const std::string& shown) {
    redactor.hide(place, shown);
    std::error_code error;
    if (!place.starts_with('/')) return;
    const std::string real = std::filesystem::canonical(place, error).string();
    // Inside, TMPDIR is the session's own /tmp; that has nothing to hide.
    if (!error && real != "/tmp") redactor.hide(real, shown);
}

std::shared_ptr<const PathRedactor> make_redactor(const RunShellCommandToolOptions& options,
                                                  const std::string& workspace) {
    auto redactor = std::make_shared<PathRedactor>(workspace);
    redactor->hide(options.workspace, ".");
    hide(*redactor, variable("HOME"), "~");
    if (variable("TMPDIR") != "/tmp") hide(*redactor, variable("TMPDIR"), "<host tmp>");
    for (const auto& [place, shown] : options.redact) hide(*redactor, place, shown);
    return redactor;
}

std::vector<std::string> locate(const std::optional<std::vector<std::string>>& commands) {
    if (!commands) return {};
    return locate_commands(*commands, variable("PATH"));
}

std::string listed(const std::vector<std::string>& programs) {
    std::string text;
    for (const std::string& program : programs) text += (text.empty() ? "" : ", ") + program;
    return text.empty() ? "none" : text;
}

/// What a session does without, as a whole; each of its streams says it too.
void tell_weaker(const SandboxEnforcer& session, const AuditRelay& sinks) {
    for (const Mechanism& mechanism : session.enforcement().mechanisms)
        if (mechanism.given_up) sinks.tell(0, Weaker{mechanism.name, mechanism.detail});
}

std::vector<std::string> weaker_texts(const SandboxEnforcer& session) {
    std::vector<std::string> texts;
    for (const Mechanism& mechanism : session.enforcement().mechanisms)
        if (mechanism.given_up) texts.push_back(mechanism.detail);
    return texts;
}

void check_artifact(const ToolContext& context) {
    if (!context.artifact) return;
    const ArtifactFacts facts = context.artifact->facts();
    if (facts.bytes > 0 || facts.finished)
        refuse_option("the context's artifact is of another call: it has " + std::to_string(facts.bytes) +
                      " bytes; give each call one of its own");
}

}  // namespace

ToolCore::ToolCore(RunShellCommandToolOptions options)
    : options_(checked(std::move(options))),
      artifacts_(options_.spool),
      gate_(std::make_shared<const Gate>(options_.gate)),
      paths_(std::make_shared<const PathTranslator>(options_.workspace)),
      redactor_(make_redactor(options_, paths_->workspace())),
      programs_(locate(options_.allowed_commands)),
      sink_failures_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

awaitable<Prepared> ToolCore::prepare(nlohmann::json input, ToolContext context) const {
    check_artifact(context);
    const Asked asked = checked_request(input, context);
    if (const auto* refusal = std::get_if<Refusal>(&asked)) co_return *refusal;
    const ToolRequest request = std::get<ToolRequest>(asked);
    const GateDecision decision = co_await ask_gate(gate_, request, options_.gate_timeout);
    const std::string answer(to_string(decision));
    if (!std::holds_alternative<Approved>(decision))
        co_return Refusal{Errc::sandbox_refused, narrate(decision), answer};
    auto cwd = co_await checked_cwd(request.cwd);
    if (auto* refusal = std::get_if<Refusal>(&cwd)) co_return std::move(*refusal);
    const AuditRelay sinks = relay(context);
    Found found = co_await session_for(std::move(context));
    if (auto* refusal = std::get_if<Refusal>(&found)) co_return std::move(*refusal);
    const auto session = std::get<std::shared_ptr<SandboxEnforcer>>(found);
    if (session == options_.enforcer && !told_weaker_.exchange(true)) tell_weaker(*session, sinks);
    co_return Ready{session, invocation_for(*session, request, std::get<std::string>(cwd))};
}

awaitable<std::shared_ptr<StreamState>> ToolCore::begin(Ready ready, ToolContext context) const {
    StreamParts parts;
    parts.session = ready.session == options_.enforcer ? nullptr : ready.session;
    parts.program = ready.invocation.fields().program;
    parts.call_id = context.call_id;
    parts.text_limit = options_.text_limit;
    parts.told_warnings = weaker_texts(*ready.session);
    parts.redactor = redactor_;
    parts.artifact = context.artifact ? context.artifact : artifacts_.another();
    const AuditRelay sinks = relay(context);
    CommandStream stream = co_await ready.session->run(std::move(ready.invocation));
    co_return std::make_shared<StreamState>(std::move(stream), std::move(parts), sinks);
}

ToolCore::Asked ToolCore::checked_request(const nlohmann::json& input, const ToolContext& context) const {
    try {
        ToolRequest request = parse_shell_input(input);
        request.call_id = context.call_id;
        return request;
    } catch (const Error& error) {
        return Refusal{error.errc(), error.text(), ""};
    }
}

awaitable<std::variant<Refusal, std::string>> ToolCore::checked_cwd(std::string cwd) const {
    std::function<std::string()> translate = [paths = paths_, cwd = std::move(cwd)] { return paths->to_host(cwd); };
    asio::any_io_executor executor = co_await asio::this_coro::executor;
    try {
        co_return co_await detail::call_aside(std::move(executor), std::move(translate), kMostLooking,
                                              "the cwd could not be looked at in time: a file system hangs");
    } catch (const Error& error) {
        if (error.errc() != Errc::sandbox_path_escape) throw;
        co_return Refusal{error.errc(), "cwd " + error.text(), "approved"};
    }
}

/// The narrower session of `allowed_commands` outlives the one it was made of, which is what the host closes.
void ToolCore::check_open() const {
    const auto session = options_.enforcer->shell("").fields().session;
    if (session && session->closed()) throw Error(Errc::sandbox_not_initialized, "the sandbox session is closed");
}

awaitable<ToolCore::Found> ToolCore::session_for(ToolContext context) const {
    check_open();
    if (!options_.allowed_commands && !context.policy) co_return options_.enforcer;
    const bool for_all = !context.policy;
    if (for_all) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (allowed_only_) co_return allowed_only_;
    }
    SandboxPolicy policy;
    try {
        policy = policy_for(context);
    } catch (const Error& error) {
        co_return narrowing_refused(error, context);
    }
    const std::string what = for_all ? "allowed_commands: " + listed(programs_) : "a policy for one call";
    Found found = co_await narrowed(std::move(policy), std::move(context), what);
    if (!for_all || std::holds_alternative<Refusal>(found)) co_return found;
    // Calls that came at once made one each; they all go on with the first.
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!allowed_only_) allowed_only_ = std::get<std::shared_ptr<SandboxEnforcer>>(found);
    co_return allowed_only_;
}

awaitable<ToolCore::Found> ToolCore::narrowed(SandboxPolicy policy, ToolContext context,
                                              std::string what) const {
    const AuditRelay sinks = relay(context);
    std::shared_ptr<SandboxEnforcer> session;
    try {
        session = co_await options_.enforcer->narrow(std::move(policy));
    } catch (const Error& error) {
        // The session is closed: nothing that another policy or another command would change.
        if (error.errc() == Errc::sandbox_not_initialized) throw;
        co_return narrowing_refused(error, context);
    }
    sinks.tell(0, Narrowed{what});
    tell_weaker(*session, sinks);
    for (const std::string& warning : session->warnings()) sinks.tell(0, PolicyWarning{warning});
    co_return session;
}

SandboxPolicy ToolCore::policy_for(const ToolContext& context) const {
    SandboxPolicy policy = context.policy ? *context.policy : options_.enforcer->policy();
    if (!options_.allowed_commands) return policy;
    if (!context.policy) {
        // Whether these are among what the session itself allows, `narrow` decides.
        policy.filesystem.restrict_execute = false;
        policy.filesystem.allow_execute.clear();
    }
    return with_allowed_commands(std::move(policy), programs_, options_.enforcer->shell("").fields().program);
}

Refusal ToolCore::narrowing_refused(const Error& error, const ToolContext& context) const {
    const std::string program = options_.enforcer->shell("").fields().program;
    relay(context).tell(0, StartFailed{program, NotStarted{Stage::wrap, error.code(), {}, error.text()}});
    return {error.errc(),
            "The command was not run: the policy for it cannot be applied: " + redactor_->text(error.text()),
            "approved"};
}

BinaryInvocation ToolCore::invocation_for(const SandboxEnforcer& session, const ToolRequest& request,
                                          std::string cwd) const {
    BinaryInvocation invocation = session.shell(request.command);
    invocation.cwd(std::move(cwd)).timeout(request.timeout).order(options_.order);
    if (options_.output_limit > 0) invocation.limit(OutputLimit{options_.output_limit, OnOverflow::stop});
    return invocation;
}

AuditRelay ToolCore::relay(const ToolContext& context) const {
    return AuditRelay({options_.on_sandbox, context.on_sandbox}, sink_failures_);
}

}  // namespace sandpipe::tool
