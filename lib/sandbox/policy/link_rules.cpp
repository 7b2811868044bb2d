#include <sandpipe/error.hpp>

#include <algorithm>

#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/planted_link.hpp"
#include "sandbox/policy/policy_rules.hpp"
#include "wire/needed_places.hpp"

namespace sandpipe {
namespace {

using wire::Access;

std::string quoted(const std::string& path) { return "\"" + path + "\""; }

}  // namespace

bool PolicyRules::leads_astray(const PolicyEntry& entry) {
    const std::string link = planted_link(entry.path, written_);
    if (link.empty()) return false;
    const std::string text = quoted(entry.absolute) + " leads to " + entry.path.place + " by the link " + link +
                             ", which a command may have made; grant " + entry.path.place + " by its own name";
    const bool is_root = entry.where.starts_with("filesystem.allowWrite");
    if (is_root && policy_.missing_allow_write != MissingAllowWrite::skip)
        throw Error(Errc::invalid_sandbox_config, entry.where + ": " + text);
    warn(entry.where + ": " + text);
    return true;
}

bool PolicyRules::is_void_by_link(Access access, const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    std::string link;
    if (place == "/" || is_in_own_tree(place)) link = planted_link(entry.path, written_);
    const bool takes_away = takes_away_written(access, place) ||
                            (access == Access::deny_read && wire::holds_programs(place));
    if (entry.glob.empty() && takes_away) link = written_link(entry.path, written_);
    if (link.empty()) return false;
    warn(entry.where + ": " + quoted(entry.absolute) + " leads to " + place + " by the link " + link +
         ", which a command may have made; only the link is protected");
    protect_way(entry.path, entry.rule);
    return true;
}

bool PolicyRules::takes_away_written(Access access, const std::string& place) const {
    return std::any_of(written_.begin(), written_.end(), [&](const std::string& written) {
        if (!wire::holds(place, written)) return false;
        if (access != Access::deny_read) return true;
        bool lifted = false;
        found.rules.visit_above(written, [&](const wire::AccessRule& rule) {
            lifted = lifted || (rule.access == Access::allow_read && !wire::relative_to(place, rule.place).empty());
        });
        return !lifted;
    });
}

}  // namespace sandpipe
