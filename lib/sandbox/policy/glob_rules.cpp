#include <cstddef>
#include <string_view>
#include <system_error>

#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/planted_link.hpp"
#include "sandbox/policy/policy_rules.hpp"
#include "sandbox/policy/resolved_path.hpp"
#include "wire/needed_places.hpp"

namespace sandpipe {
namespace {

using wire::Access;

}  // namespace

void PolicyRules::deny_found(Access access, const PolicyEntry& glob, const GlobFind& name) {
    if (is_in_own_tree(name.path)) return;
    if (name.kind == PathKind::symlink) return deny_behind_link(access, glob, name);
    const bool lifted = access == Access::deny_read && found.rules.read(name.path).allowed;
    // Outside of the roots nothing can be written anyway.
    const bool in_vain = access == Access::deny_write && !found.rules.in_root(name.path);
    // What a session does not see needs no cover, and a cover would tell its name.
    if (lifted || in_vain || !is_shown(name.path)) return;
    found.rules.add({access, name.path, glob.rule, {}, true});
    found.places[name.path] = name.kind == PathKind::directory;
    if (name.kind == PathKind::file) warn_of_alias({name.path, facts_.look(name.path), {}}, glob.rule);
}

void PolicyRules::warn_of_gap(const PolicyEntry& glob, const GlobGap& gap) {
    warn(glob.where + ": what is in " + gap.path +
         " cannot be searched: " + std::generic_category().message(gap.error));
}

void PolicyRules::fold_warnings(std::size_t first, std::string_view rest) {
    constexpr std::size_t kMostNamed = 10;
    if (warnings.size() <= first + kMostNamed) return;
    const std::size_t more = warnings.size() - first - kMostNamed;
    warnings.resize(first + kMostNamed);
    warn(std::to_string(more) + " more " + std::string(rest));
}

// Its owner can give himself the rights that were missing (chmod(2)) only where the mount is writable.
void PolicyRules::deny_gap(Access access, const PolicyEntry& glob, const GlobGap& gap) {
    if (is_in_own_tree(gap.path) || !is_shown(gap.path)) return;
    const bool writable = found.rules.in_root(gap.path);
    const bool reads = access == Access::deny_read;
    const std::string place(nameable_path(gap.path));
    if (!writable && !(reads && can_be_masked(place))) return warn_of_gap(glob, gap);
    warn(glob.where + ": nothing in " + place + " can be " + (reads ? "read" : "written") +
         ", because it cannot be searched: " + std::generic_category().message(gap.error));
    add(access, {place, facts_.look(place), {}}, glob.rule + " (a directory that cannot be searched)");
}

// Elsewhere whoever made it meant others to pass through it, and what a session is for may be there.
bool PolicyRules::can_be_masked(const std::string& directory) const {
    if (!facts_.look(join_path(directory, ".")).exists()) return false;
    return !wire::holds_any(directory, written_) && !wire::holds_any(directory, found.rules.writable_roots());
}

// As with a link that is named without a glob, what it leads to is meant. But a command may have made it.
void PolicyRules::deny_behind_link(Access access, const PolicyEntry& glob, const GlobFind& found_link) {
    const std::string& link = found_link.path;
    const ResolvedPath path = resolve_path(link, facts_);
    // It has been replaced since it was found.
    if (path.place == link && path.fact.exists())
        return deny_found(access, glob, {found_link.query, link, path.fact.kind});
    const bool takes_programs = access == Access::deny_read && wire::touches_programs(path.place) &&
                                !written_link(path, written_).empty();
    const bool leads_astray =
        takes_programs || path.place == "/" || wire::holds_any(path.place, found.rules.writable_roots());
    if (leads_astray)
        warn(link + " leads to " + path.place + (takes_programs ? ", where programs stand" : ", which is granted") +
             "; only the link is protected");
    if (leads_astray || is_in_own_tree(path.place)) return protect_way(path, glob.rule);
    // As for the names that it matches: who allows this very place means it.
    if (access == Access::deny_read && is_allowed_by_name(path.place)) return protect_way(path, glob.rule);
    add(access, path, glob.rule);
    warn_of_alias(path, glob.rule);
    if (access == Access::deny_read && path.fact.kind == PathKind::directory && !planted_link(path, written_).empty())
        warn("because of the link " + link + " nothing in " + path.place + " can be read: " + glob.rule +
             "; if a command made it, remove it");
}

bool PolicyRules::is_allowed_by_name(const std::string& place) const {
    bool allowed = false;
    found.rules.visit_above(place, [&](const wire::AccessRule& rule) {
        allowed = allowed || (rule.access == Access::allow_read && rule.place == place && !rule.expanded);
    });
    return allowed;
}

}  // namespace sandpipe
