#include <sandpipe/error.hpp>
#include <sandpipe/explain.hpp>

#include <array>
#include <cstdlib>
#include <utility>

#include "sandbox/explain_connect.hpp"
#include "sandbox/explain_place.hpp"
#include "sandbox/explain_program.hpp"
#include "sandbox/policy/compile.hpp"
#include "sandbox/policy/policy_entries.hpp"
#include "sandbox/session_base.hpp"
#include "sandbox/session_view.hpp"

namespace sandpipe {
namespace {

constexpr std::array<std::string_view, 4> kActs{"read", "write", "exec", "connect"};

[[noreturn]] void refuse(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

}  // namespace

std::string_view to_string(ExplainedAct act) noexcept { return kActs[static_cast<std::size_t>(act)]; }

struct Explainer::Parts {
    HostPathFacts facts;
    std::string home;
    CompiledPolicy compiled;
};

Explainer::Explainer(const SandboxPolicy& policy, const std::string& workspace, const std::string& bin_shell)
    : parts_(std::make_unique<Parts>()) {
    parts_->home = find_home(std::getenv("HOME"));
    parts_->compiled = compile(policy, find_workspace(workspace), parts_->home, parts_->facts, bin_shell);
}

Explainer::Explainer(Explainer&&) noexcept = default;
Explainer& Explainer::operator=(Explainer&&) noexcept = default;
Explainer::~Explainer() = default;

Explanation Explainer::explain(ExplainedAct act, const std::string& target) const {
    if (target.empty()) refuse("the target of explain is empty; accepted: a path");
    if (target.find('\0') != std::string::npos) refuse("the target of explain has a NUL byte in it");
    const CompiledPolicy& compiled = parts_->compiled;
    const bool has_slash = target.find('/') != std::string::npos;
    const bool is_path = has_slash && target.find("://") == std::string::npos;
    if (act == ExplainedAct::connect && !is_path) return explain_host(compiled, target);
    const SessionView view(compiled, parts_->facts);
    if (act == ExplainedAct::exec && !has_slash) return explain_bare_name(compiled, target, std::getenv("PATH"), view);
    const std::string absolute = absolute_path(target, compiled.plan.workspace, parts_->home, "the target");
    if (act == ExplainedAct::connect) return explain_socket(compiled, absolute, view);
    if (act == ExplainedAct::exec) return explain_program(compiled, absolute, view);
    return explain_place(compiled, act, absolute, view);
}

Explanation explain(const SandboxPolicy& policy, const std::string& workspace, ExplainedAct act,
                    const std::string& target) {
    return Explainer(policy, workspace).explain(act, target);
}

}  // namespace sandpipe
