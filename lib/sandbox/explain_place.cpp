#include "explain_place.hpp"

#include <algorithm>
#include <utility>

#include "mount_layout.hpp"
#include "own_places.hpp"
#include "wire/proc_entries.hpp"

namespace sandpipe {
namespace {

constexpr std::string_view kReadDefault = "reads are allowed by default";

std::string roots_text(const wire::AccessRules& rules) {
    const std::vector<std::string> roots = rules.writable_roots();
    if (roots.empty()) return "outside the writable roots: there are none";
    std::string text = "outside the writable roots:";
    for (const std::string& root : roots) text += " " + root;
    return text;
}

bool is_device(const CompiledPolicy& compiled, std::string_view place) {
    const auto& granted = compiled.devices;
    return is_own_device(place) || std::find(granted.begin(), granted.end(), place) != granted.end();
}

/// Where a session has something of its own, what the host has there is out of sight.
std::string_view own_instead(const CompiledPolicy& compiled, const ResolvedPath& path) {
    const std::string& place = path.place;
    const bool in_memory = wire::relative_to("/dev/shm", place).empty() == false;
    if (wire::holds(kDev, place) && place != kDev && !is_device(compiled, place) && !in_memory)
        return "not in the session's own /dev";
    if (in_memory && path.fact.exists()) return "hidden by the session's own /dev/shm";
    const bool in_tmp = !wire::relative_to(compiled.tmp, place).empty();
    if (in_tmp && path.fact.exists() && !is_granted_within(compiled.plan.rules, compiled.tmp, place))
        return "hidden by the session's own /tmp";
    return {};
}

wire::Verdict judge(const wire::AccessRules& rules, ExplainedAct act, std::string_view place) {
    if (act == ExplainedAct::write) return rules.write(place);
    return act == ExplainedAct::exec ? rules.execute(place) : rules.read(place);
}

/// What the mounts say, whatever the rules do; empty where they leave it to the rules.
std::string_view refused_by_view(const CompiledPolicy& compiled, ExplainedAct act, const ResolvedPath& path) {
    if (act != ExplainedAct::write) {
        if (wire::is_hidden_in_proc(path.place)) return "hidden in the session's own /proc";
        if (const std::string_view own = own_instead(compiled, path); !own.empty()) return own;
    }
    const bool noexec = wire::holds(kProc, path.place) ||
                        (wire::holds(kDev, path.place) && !wire::holds("/dev/shm", path.place));
    if (act == ExplainedAct::exec && noexec) return "the session's own /proc and /dev are noexec";
    return {};
}

std::string words(const wire::AccessRules& rules, ExplainedAct act, wire::Verdict verdict) {
    if (!verdict.rule.empty()) return std::move(verdict.rule);
    if (!rules.enabled) return "filesystem.disabled";
    return verdict.allowed ? std::string(kReadDefault)
                           : (act == ExplainedAct::write ? roots_text(rules) : std::string("denied"));
}

}  // namespace

Explanation explain_place(const CompiledPolicy& compiled, ExplainedAct act, const ResolvedPath& path) {
    const wire::AccessRules& rules = compiled.plan.rules;
    if (rules.enabled)
        if (const std::string_view refusal = refused_by_view(compiled, act, path); !refusal.empty())
            return {false, std::string(refusal), path.place};
    wire::Verdict verdict = judge(rules, act, path.place);
    const bool allowed = verdict.allowed;
    return {allowed, words(rules, act, std::move(verdict)), path.place};
}

}  // namespace sandpipe
