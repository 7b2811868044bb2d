#include <sandpipe/error.hpp>
#include <sandpipe/explain.hpp>

#include <array>
#include <cstdlib>
#include <utility>

#include "sandbox/compile.hpp"
#include "sandbox/explain_connect.hpp"
#include "sandbox/explain_place.hpp"
#include "sandbox/session_base.hpp"

namespace sandpipe {
namespace {

constexpr std::array<std::string_view, 4> kActs{"read", "write", "exec", "connect"};

[[noreturn]] void refuse(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

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
    return act == ExplainedAct::connect ? explain_socket(parts_->compiled, path)
                                        : explain_place(parts_->compiled, act, path);
}

Explanation explain(const SandboxPolicy& policy, const std::string& workspace, ExplainedAct act,
                    const std::string& target) {
    return Explainer(policy, workspace).explain(act, target);
}

}  // namespace sandpipe
