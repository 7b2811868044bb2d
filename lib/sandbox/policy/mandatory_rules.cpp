#include <sandpipe/error.hpp>

#include <string_view>
#include <utility>

#include "sandbox/policy/mandatory_denies.hpp"
#include "sandbox/policy/mount_aliases.hpp"
#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/policy_rules.hpp"

namespace sandpipe {
namespace {

using wire::Access;

// Each is a mount, as in glob_search.cpp.
constexpr std::size_t kMaxMandatory = 50'000;

[[noreturn]] void refuse_mandatory(const MandatoryPlace& last) {
    throw Error(Errc::invalid_sandbox_config,
                "filesystem.allowWrite grants more than " + std::to_string(kMaxMandatory) +
                    " names that are always denied, such as " + last.path +
                    ", and the kernel has no room for so many mounts; grant smaller directories, or lift the "
                    "names by filesystem.mandatoryDenyExcept");
}

}  // namespace

void PolicyRules::deny_mandatory(const std::vector<std::string>& passed_over, const MountAliases& aliases) {
    const std::vector<std::string> roots = found.rules.writable_roots();
    MandatoryPlaces mandatory = find_mandatory_denies(roots, policy_, facts_, passed_over);
    const MountAliases* others = aliases.any_among(roots) ? &aliases : nullptr;
    std::size_t existing = 0;
    const std::size_t before = warnings.size();
    for (const MandatoryPlace& place : mandatory.places)
        if (deny_mandatory(place, roots, others) && ++existing > kMaxMandatory) refuse_mandatory(place);
    fold_warnings(before, "names that are always denied lead elsewhere, or have other names");
    for (const MandatoryPlace& place : mandatory.new_repositories)
        found.rules.add({Access::new_repository, place.path, place.text, {}, false});
    for (std::string& warning : mandatory.warnings) warn(std::move(warning));
}

/// At a root no command of such a session can have made it.
void PolicyRules::warn_of_link(const ResolvedPath& path, const std::string& rule) {
    if (path.passed.empty() || !found.rules.in_root(path.place)) return;
    if (warned_links_.insert(path.passed.front()).second)
        warn("because of the link " + path.passed.front() + " nothing can be written at " + path.place + ": " + rule +
             "; if a command made it, remove it");
}

bool PolicyRules::deny_mandatory(const MandatoryPlace& place, const std::vector<std::string>& roots,
                                 const MountAliases* aliases) {
    const std::string& path = place.path;
    const std::string& rule = place.text;
    const std::string_view whole = path;
    const ResolvedPath resolved =
        resolve_below(whole.substr(0, place.resolved), whole.substr(place.resolved), facts_);
    // A command may have made a link of this name. The next session protects the link, and must not lose its
    // workspace or its devices to it.
    const bool leads_astray = !resolved.passed.empty() && wire::holds_any(resolved.place, roots);
    if (leads_astray)
        warn(path + " leads to " + resolved.place + ", which is granted; only the link is protected");
    else if (place.only_link)
        warn(path + " leads to " + resolved.place + ", which is no repository; only the link is protected");
    if (leads_astray || place.only_link || is_in_own_tree(resolved.place)) {
        protect_way(resolved, rule);
        return false;
    }
    if (!wire::holds_any(whole.substr(0, place.resolved), roots)) warn_of_link(resolved, rule);
    const Access access = place.until_made ? Access::deny_after_init : Access::deny_write;
    add(access, resolved, rule);
    warn_of_alias(resolved, rule);
    if (!aliases) return resolved.fact.exists();
    for (const OtherPath& other : aliases->of(resolved.place))
        if (found.rules.in_root(other.path)) add(access, {other.path, facts_.look(other.path), {}}, rule);
    return resolved.fact.exists();
}

}  // namespace sandpipe
