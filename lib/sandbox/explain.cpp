#include <sandpipe/error.hpp>
#include <sandpipe/explain.hpp>

#include <array>
#include <cstdlib>
#include <utility>

#include "sandbox/compile.hpp"
#include "sandbox/explain_connect.hpp"
#include "sandbox/explain_place.hpp"
#include "sandbox/policy_entries.hpp"
#include "sandbox/session_base.hpp"

namespace sandpipe {
namespace {

constexpr int kMaxInterpreters = 5;  // of scripts of scripts; with more the kernel says ELOOP
constexpr std::array<std::string_view, 4> kActs{"read", "write", "exec", "connect"};

[[noreturn]] void refuse(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

/// Starting a program opens its loader, or starts the interpreter of a script in its place, and that one's.
Explanation explain_execution(const CompiledPolicy& compiled, const std::string& workspace, const ResolvedPath& program,
                              const PathFacts& facts) {
    Explanation answer = explain_place(compiled, ExplainedAct::exec, program);
    ResolvedPath here = program;
    for (int i = 0; i < kMaxInterpreters && answer.allowed && here.fact.kind == PathKind::file; ++i) {
        const sys::ProgramFacts found = facts.program(here.place);
        if (found.interpreter.empty()) break;
        const bool absolute = found.interpreter.starts_with('/');
        ResolvedPath next = resolve_path(absolute ? found.interpreter : join_path(workspace, found.interpreter), facts);
        const Explanation other = explain_place(compiled, ExplainedAct::exec, next);
        answer.allowed = other.allowed;
        if (!other.allowed) answer.rule = other.rule + " (interpreter of " + here.place + ": " + next.place + ")";
        here = std::move(next);
    }
    return answer;
}

}  // namespace

std::string_view to_string(ExplainedAct act) noexcept { return kActs[static_cast<std::size_t>(act)]; }

struct Explainer::Parts {
    HostPathFacts facts;
    std::string home;
    std::string workspace;
    CompiledPolicy compiled;
};

Explainer::Explainer(const SandboxPolicy& policy, const std::string& workspace, const std::string& bin_shell)
    : parts_(std::make_unique<Parts>()) {
    parts_->home = find_home(std::getenv("HOME"));
    parts_->workspace = find_workspace(workspace);
    parts_->compiled = compile(policy, parts_->workspace, parts_->home, parts_->facts, bin_shell);
}

Explainer::Explainer(Explainer&&) noexcept = default;
Explainer& Explainer::operator=(Explainer&&) noexcept = default;
Explainer::~Explainer() = default;

Explanation Explainer::explain(ExplainedAct act, const std::string& target) const {
    if (target.empty()) refuse("the target of explain is empty; accepted: a path");
    if (target.find('\0') != std::string::npos) refuse("the target of explain has a NUL byte in it");
    const bool is_path = target.find('/') != std::string::npos && target.find("://") == std::string::npos;
    const bool is_host = act == ExplainedAct::connect && !is_path;
    if (is_host) return explain_host(parts_->compiled, target);
    const std::string absolute = absolute_path(target, parts_->workspace, parts_->home, "the target");
    const ResolvedPath path = resolve_path(absolute, parts_->facts);
    if (act == ExplainedAct::connect) return explain_socket(parts_->compiled, path);
    if (act == ExplainedAct::exec) return explain_execution(parts_->compiled, parts_->workspace, path, parts_->facts);
    return explain_place(parts_->compiled, act, path);
}

Explanation explain(const SandboxPolicy& policy, const std::string& workspace, ExplainedAct act,
                    const std::string& target) {
    return Explainer(policy, workspace).explain(act, target);
}

}  // namespace sandpipe
