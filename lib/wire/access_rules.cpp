#include "access_rules.hpp"

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "glob.hpp"

namespace sandpipe::wire {
namespace {

/// The rule that prevails among several about one path.
struct Best {
    const AccessRule* rule = nullptr;
    std::size_t length = 0;  // of its place, or of the name that its glob matches

    // Of two texts for one place always the same one.
    void offer(const AccessRule& other, std::size_t other_length) noexcept {
        if (rule && (other_length < length || (other_length == length && rule->text <= other.text))) return;
        rule = &other;
        length = other_length;
    }
    [[nodiscard]] bool reaches(const Best& other) const noexcept {
        return rule && (!other.rule || length >= other.length);
    }
};

/// A session has its own of these, which no glob that begins at "/" is about.
bool is_own_tree(std::string_view path) noexcept { return holds("/proc", path) || holds("/dev", path); }

/// How long the place or name is by which a rule that stands above `path` is about it; 0: it is not.
std::size_t length_of(const AccessRule& rule, std::string_view path) noexcept {
    if (rule.glob.empty()) return rule.place.size();
    if (is_own_tree(path) && !is_own_tree(rule.place)) return 0;
    const std::string_view below = relative_to(rule.place, path);
    const std::size_t matched = match_glob(rule.glob, below).matched;
    if (matched == GlobMatch::kNone) return 0;
    return path.size() - below.size() + matched;
}

/// By a glob itself, or by a place without one; places that a glob matched only say the same again.
bool judges(const AccessRule& rule) noexcept { return !rule.expanded; }

bool denies(const AccessRule& rule) noexcept {
    return denies_write(rule.access) || rule.access == Access::deny_read;
}

Verdict allowed_by(const AccessRule* rule) { return {true, 0, rule ? rule->text : std::string()}; }
Verdict denied_by(const AccessRule& rule) { return {false, EACCES, rule.text}; }

auto order_of(const AccessRule& rule) { return std::tie(rule.access, rule.glob, rule.text, rule.expanded); }

}  // namespace

bool holds(std::string_view place, std::string_view path) noexcept {
    if (place == "/") return path.starts_with('/');
    return !place.empty() && path.starts_with(place) &&
           (path.size() == place.size() || path[place.size()] == '/');
}

bool holds_any(std::string_view place, const std::vector<std::string>& others) noexcept {
    return std::any_of(others.begin(), others.end(), [&](const std::string& other) { return holds(place, other); });
}

std::string_view relative_to(std::string_view place, std::string_view path) noexcept {
    if (!holds(place, path) || path.size() == place.size()) return {};
    return path.substr(place == "/" ? 1 : place.size() + 1);
}

AccessRules::AccessRules(std::vector<AccessRule> rules, bool rules_enabled) : enabled(rules_enabled) {
    for (AccessRule& rule : rules) add(std::move(rule));
}

void AccessRules::add(AccessRule rule) {
    denies_reads_ = denies_reads_ || rule.access == Access::deny_read;
    new_repositories_ = new_repositories_ || rule.access == Access::new_repository;
    denies_writes_ = denies_writes_ || denies_write(rule.access) || rule.access == Access::new_repository;
    has_roots_ = has_roots_ || rule.access == Access::allow_write;
    std::vector<AccessRule>& here = places_[rule.place];
    const auto before = [](const AccessRule& a, const AccessRule& b) { return order_of(a) < order_of(b); };
    const auto at = std::lower_bound(here.begin(), here.end(), rule, before);
    if (at == here.end() || *at != rule) here.insert(at, std::move(rule));
}

std::vector<AccessRule> AccessRules::all() const {
    std::vector<AccessRule> rules;
    for (const auto& [place, here] : places_) rules.insert(rules.end(), here.begin(), here.end());
    return rules;
}

Verdict AccessRules::read(std::string_view path) const {
    return enabled ? read_by_rules(path) : allowed_by(nullptr);
}

Verdict AccessRules::read_by_rules(std::string_view path) const {
    Best allow;
    Best named;  // the same, but not by a glob: it may lift one
    Best deny;
    Best glob;
    visit_above(path, [&](const AccessRule& rule) {
        if (rule.access == Access::allow_read) {
            allow.offer(rule, rule.place.size());
            if (judges(rule)) named.offer(rule, rule.place.size());
        } else if (rule.access == Access::deny_read && judges(rule)) {
            const std::size_t length = length_of(rule, path);
            if (length > 0) (rule.glob.empty() ? deny : glob).offer(rule, length);
        }
    });
    const bool by_glob = glob.rule && !named.reaches(glob);
    const bool by_place = deny.reaches(allow);
    if (by_glob && !(by_place && deny.reaches(glob))) return denied_by(*glob.rule);
    return by_place ? denied_by(*deny.rule) : allowed_by(allow.rule);
}

Verdict AccessRules::write(std::string_view path, bool initial) const {
    if (!enabled) return allowed_by(nullptr);
    // Nothing can be written where nothing can be read.
    if (Verdict reading = read_by_rules(path); !reading.allowed) return reading;
    Best deny;
    Best root;
    Best own;
    Best shown;
    visit_above(path, [&](const AccessRule& rule) {
        const std::size_t length = judges(rule) ? length_of(rule, path) : rule.place.size();
        const bool lifted = initial && rule.access == Access::deny_after_init;
        if (denies_write(rule.access) && !lifted && judges(rule) && length > 0) deny.offer(rule, length);
        if (rule.access == Access::allow_write) root.offer(rule, length);
        if (rule.access == Access::private_write) own.offer(rule, length);
        if (rule.access == Access::allow_read) shown.offer(rule, length);
    });
    if (deny.rule) return denied_by(*deny.rule);
    if (const AccessRule* rule = initial ? nullptr : new_repository(path)) return denied_by(*rule);
    // A place of the host's that was granted for reading inside the session's own /tmp stays as it is.
    const bool is_own = own.rule && !(shown.rule && shown.length > own.length);
    if (is_own) root.offer(*own.rule, own.length);
    return root.rule ? allowed_by(root.rule) : Verdict{false, EROFS, {}};
}

Verdict AccessRules::execute(std::string_view path) const {
    Verdict reading = read(path);
    if (!enabled || !restrict_execute || !reading.allowed) return reading;
    Best allow;
    visit_above(path, [&](const AccessRule& rule) {
        if (rule.access == Access::allow_execute) allow.offer(rule, rule.place.size());
    });
    return allow.rule ? allowed_by(allow.rule) : Verdict{false, EACCES, "allowExecute"};
}

std::vector<const AccessRule*> AccessRules::protected_below(std::string_view place) const {
    std::vector<const AccessRule*> found;
    if (!enabled) return found;
    visit_below(place, [&](const AccessRule& rule) {
        if (denies(rule) && rule.glob.empty()) found.push_back(&rule);
    });
    return found;
}

const AccessRule* AccessRules::denying_glob_at(std::string_view place) const {
    const auto found = enabled ? places_.find(place) : places_.end();
    if (found == places_.end()) return nullptr;
    for (const AccessRule& rule : found->second)
        if (denies(rule) && !rule.glob.empty()) return &rule;
    return nullptr;
}

std::vector<const AccessRule*> AccessRules::globs_below(std::string_view place) const {
    std::vector<const AccessRule*> found;
    if (!enabled) return found;
    visit_above(place, [&](const AccessRule& rule) {
        const bool is_glob = denies(rule) && !rule.glob.empty();
        if (is_glob && match_glob(rule.glob, relative_to(rule.place, place)).open) found.push_back(&rule);
    });
    visit_below(place, [&](const AccessRule& rule) {
        if (denies(rule) && !rule.glob.empty()) found.push_back(&rule);
    });
    return found;
}

const AccessRule* AccessRules::new_repository(std::string_view place) const {
    const auto found = enabled ? places_.find(place) : places_.end();
    if (found == places_.end()) return nullptr;
    for (const AccessRule& rule : found->second)
        if (rule.access == Access::new_repository) return &rule;
    return nullptr;
}

bool AccessRules::in_root(std::string_view place) const {
    bool inside = false;
    visit_above(place, [&](const AccessRule& rule) { inside = inside || rule.access == Access::allow_write; });
    return inside;
}

std::vector<std::string> AccessRules::writable_roots() const {
    std::vector<std::string> roots;
    for (const auto& [place, here] : places_)
        if (std::any_of(here.begin(), here.end(),
                        [](const AccessRule& rule) { return rule.access == Access::allow_write; }))
            roots.push_back(place);
    return roots;
}

void encode(Encoder& out, const AccessRules& rules) {
    out.number(rules.enabled).number(rules.restrict_execute);
    out.list(rules.all(), [](Encoder& to, const AccessRule& rule) {
        to.number(rule.access).text(rule.place).text(rule.text).text(rule.glob).number(rule.expanded);
    });
}

void decode(Decoder& in, AccessRules& rules) {
    std::vector<AccessRule> seen;
    rules = AccessRules();
    in.number(rules.enabled).number(rules.restrict_execute);
    in.list(seen, [](Decoder& from, AccessRule& rule) {
        from.number(rule.access).text(rule.place).text(rule.text).text(rule.glob).number(rule.expanded);
    });
    for (AccessRule& rule : seen) rules.add(std::move(rule));
}

}  // namespace sandpipe::wire
