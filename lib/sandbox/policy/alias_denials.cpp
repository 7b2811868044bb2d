#include "sandbox/policy/alias_denials.hpp"

#include <cstddef>
#include <utility>

#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {
namespace {

using wire::Access;

bool is_granted_by_name(const std::string& place, const wire::AccessRules& rules) {
    bool granted = false;
    rules.visit_above(place, [&](const wire::AccessRule& rule) {
        const bool grants = rule.access == Access::allow_read || rule.access == Access::allow_write;
        granted = granted || (grants && rule.place == place);
    });
    return granted;
}

/// `glob` as it is below `way`; false if it matches nothing there.
bool take_way(std::string& glob, std::string_view way) {
    if (way.empty() || glob.starts_with("**")) return true;
    if (!glob.starts_with(std::string(way) + "/")) return false;
    glob.erase(0, way.size() + 1);
    return true;
}

}  // namespace

void add_alias_denials(std::vector<PolicyEntry>& denials, const MountAliases& aliases, const PathFacts& facts,
                       PolicyRules& rules) {
    for (std::size_t i = 0, given = denials.size(); i < given; ++i) {
        const std::string place = denials[i].path.place;
        if (place == "/" || is_in_own_tree(place)) continue;
        for (const OtherPath& other : aliases.of(place)) {
            const std::string& path = other.path;
            if (!rules.is_shown(path)) continue;
            if (denials[i].glob.empty() && is_granted_by_name(path, rules.found.rules)) {
                rules.warn(denials[i].where + ": " + other.place + " is mounted at " + path +
                           " too, which is granted by that name");
                continue;
            }
            PolicyEntry alias = denials[i];
            if (!alias.glob.empty() && !take_way(alias.glob, wire::relative_to(place, other.place))) continue;
            alias.path = {path, facts.look(path), {}};
            denials.push_back(std::move(alias));
        }
    }
}

}  // namespace sandpipe
