#include "sandbox/explain_place.hpp"

#include <utility>

#include "sandbox/policy/own_places.hpp"
#include "wire/hidden_facts.hpp"

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

wire::Verdict judge(const wire::AccessRules& rules, ExplainedAct act, std::string_view place) {
    if (act == ExplainedAct::write) return rules.write(place);
    return act == ExplainedAct::exec ? rules.execute(place) : rules.read(place);
}

bool is_own_stream(std::string_view place) {
    return place == "/proc/self/fd/0" || place == "/proc/self/fd/1" || place == "/proc/self/fd/2";
}

/// What the mounts say, whatever the rules do; empty where they leave it to the rules.
std::string_view refused_by_view(const CompiledPolicy& compiled, ExplainedAct act, const std::string& place,
                                 const SessionView& view) {
    const std::string_view hidden = view.hidden(place);
    // In the session's own /tmp and /dev/shm there is room for a file of the same name.
    const wire::AccessRules& rules = compiled.plan.rules;
    const bool makes_its_own = act == ExplainedAct::write && rules.enabled && rules.write(place).allowed;
    if (!hidden.empty() && !makes_its_own) return hidden;
    if (act == ExplainedAct::write && wire::is_read_only_in_proc(place)) return "read-only in the session's own /proc";
    if (act == ExplainedAct::write && view.is_setting(place)) return "a setting of the machine";
    if (act != ExplainedAct::exec) return {};
    if (wire::holds(kProc, place)) return "the session's own /proc is noexec";
    const bool in_dev = wire::holds(kDev, place) && !wire::holds("/dev/shm", place);
    return in_dev && rules.enabled ? "the session's own /dev is noexec" : std::string_view();
}

std::string words(const wire::AccessRules& rules, ExplainedAct act, wire::Verdict verdict) {
    if (!verdict.rule.empty()) return std::move(verdict.rule);
    if (!rules.enabled) return "filesystem.disabled";
    return verdict.allowed ? std::string(kReadDefault)
                           : (act == ExplainedAct::write ? roots_text(rules) : std::string("denied"));
}

}  // namespace

Explanation explain_blocked(const CompiledPolicy& compiled, const SessionWalk& walk, const SessionView& view) {
    std::string rule(view.hidden(walk.blocked));
    if (rule.empty()) rule = compiled.plan.rules.read(walk.blocked).rule;
    if (walk.path.place != walk.blocked) return {false, std::move(rule), walk.path.place};
    return {false, rule + " (no way leads through " + walk.blocked + ")", walk.path.place};
}

Explanation explain_place(const CompiledPolicy& compiled, ExplainedAct act, std::string_view absolute,
                          const SessionView& view) {
    const SessionWalk walk = walk_in_session(absolute, view);
    if (!walk.blocked.empty()) return explain_blocked(compiled, walk, view);
    const std::string& place = walk.path.place;
    if (is_own_stream(place) && act != ExplainedAct::exec) return {true, "a stream of the command's own", place};
    if (place == "/proc/self/exe" && act == ExplainedAct::exec) return {true, "the program that runs already", place};
    if (const std::string_view refusal = refused_by_view(compiled, act, place, view); !refusal.empty())
        return {false, std::string(refusal), place};
    const wire::AccessRules& rules = compiled.plan.rules;
    wire::Verdict verdict = judge(rules, act, place);
    const bool allowed = verdict.allowed;
    return {allowed, words(rules, act, std::move(verdict)), place};
}

}  // namespace sandpipe
