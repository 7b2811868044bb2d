#include "access_rules.hpp"

#include <algorithm>
#include <cerrno>

namespace sandpipe::wire {
namespace {

/// Longer places first; then, of two texts for one place, always the same one.
bool outranks(const AccessRule& rule, const AccessRule& other) noexcept {
    if (rule.place.size() != other.place.size()) return rule.place.size() > other.place.size();
    return rule.text < other.text;
}

/// The rule of this kind with the longest place that holds `path`.
const AccessRule* prevailing(const std::vector<AccessRule>& rules, Access access, std::string_view path) {
    const AccessRule* best = nullptr;
    for (const AccessRule& rule : rules)
        if (rule.access == access && holds(rule.place, path) && (!best || outranks(rule, *best)))
            best = &rule;
    return best;
}

const AccessRule* outranking(const AccessRule* rule, const AccessRule* other) noexcept {
    if (!rule || !other) return rule ? rule : other;
    return outranks(*rule, *other) ? rule : other;
}

Verdict allowed_by(const AccessRule* rule) { return {true, 0, rule ? rule->text : std::string()}; }
Verdict denied_by(const AccessRule& rule) { return {false, EACCES, rule.text}; }

}  // namespace

bool holds(std::string_view place, std::string_view path) noexcept {
    if (place == "/") return path.starts_with('/');
    return !place.empty() && path.starts_with(place) &&
           (path.size() == place.size() || path[place.size()] == '/');
}

std::string_view relative_to(std::string_view place, std::string_view path) noexcept {
    if (!holds(place, path) || path.size() == place.size()) return {};
    return path.substr(place == "/" ? 1 : place.size() + 1);
}

Verdict AccessRules::read(std::string_view path) const {
    if (!enabled) return allowed_by(nullptr);
    const AccessRule* allow = prevailing(rules, Access::allow_read, path);
    const AccessRule* deny = prevailing(rules, Access::deny_read, path);
    const bool denied = deny && (!allow || deny->place.size() >= allow->place.size());
    return denied ? denied_by(*deny) : allowed_by(allow);
}

Verdict AccessRules::write(std::string_view path) const {
    if (!enabled) return allowed_by(nullptr);
    // Nothing can be written where nothing can be read.
    if (Verdict reading = read(path); !reading.allowed) return reading;
    if (const AccessRule* deny = prevailing(rules, Access::deny_write, path)) return denied_by(*deny);
    // A place of the host's that was granted for reading inside the session's own /tmp stays as it is.
    const AccessRule* own = prevailing(rules, Access::private_write, path);
    const AccessRule* shown = prevailing(rules, Access::allow_read, path);
    if (own && shown && shown->place.size() > own->place.size()) own = nullptr;
    const AccessRule* root = outranking(prevailing(rules, Access::allow_write, path), own);
    return root ? allowed_by(root) : Verdict{false, EROFS, {}};
}

std::vector<const AccessRule*> AccessRules::protected_below(std::string_view place) const {
    std::vector<const AccessRule*> found;
    if (!enabled) return found;
    for (const AccessRule& rule : rules) {
        const bool denies = rule.access == Access::deny_write || rule.access == Access::deny_read;
        if (denies && !relative_to(place, rule.place).empty()) found.push_back(&rule);
    }
    std::sort(found.begin(), found.end(), [](const AccessRule* a, const AccessRule* b) {
        return a->place != b->place ? a->place < b->place : a->text < b->text;
    });
    return found;
}

bool AccessRules::denies_reads() const noexcept {
    const auto denies = [](const AccessRule& rule) { return rule.access == Access::deny_read; };
    return enabled && std::any_of(rules.begin(), rules.end(), denies);
}

std::vector<std::string> AccessRules::writable_roots() const {
    std::vector<std::string> roots;
    for (const AccessRule& rule : rules)
        if (rule.access == Access::allow_write) roots.push_back(rule.place);
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    return roots;
}

void encode(Encoder& out, const AccessRules& rules) {
    out.number(rules.enabled).list(rules.rules, [](Encoder& to, const AccessRule& rule) {
        to.number(rule.access).text(rule.place).text(rule.text);
    });
}

void decode(Decoder& in, AccessRules& rules) {
    in.number(rules.enabled).list(rules.rules, [](Decoder& from, AccessRule& rule) {
        from.number(rule.access).text(rule.place).text(rule.text);
    });
}

}  // namespace sandpipe::wire
