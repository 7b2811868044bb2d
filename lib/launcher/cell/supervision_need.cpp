#include "launcher/cell/supervision_need.hpp"

#include <algorithm>

namespace sandpipe::launcher {
namespace {

using wire::Access;
using wire::AccessRule;

bool is_writable(const AccessRule& rule) {
    return rule.access == Access::allow_write || rule.access == Access::private_write;
}

/// The denying rules about what is in a writable place. A denied name that does not exist has nothing on it that
/// could be mounted over, and one that does exist can be moved away with what is above it.
std::vector<const AccessRule*> denied_names(const wire::AccessRules& rules) {
    std::vector<const AccessRule*> found;
    for (const AccessRule& rule : rules.all()) {
        if (!is_writable(rule)) continue;
        for (const auto& below : {rules.protected_below(rule.place), rules.globs_below(rule.place)})
            found.insert(found.end(), below.begin(), below.end());
    }
    return found;
}

}  // namespace

std::vector<SupervisionNeed> supervision_needs(const wire::SessionPlan& plan) {
    std::vector<SupervisionNeed> needs;
    const auto denied = plan.filesystem_enforced ? denied_names(plan.rules) : std::vector<const AccessRule*>();
    // What is moved away and not read in this session could be read in the next one.
    const bool reads = std::any_of(denied.begin(), denied.end(),
                                   [](const AccessRule* rule) { return rule->access == Access::deny_read; });
    if (reads) needs.push_back({"denied_reads", "filesystem.denyRead within filesystem.allowWrite", false});
    const bool on_behalf = plan.filesystem_enforced && plan.rules.makes_repositories();
    if (!denied.empty() || on_behalf)
        needs.push_back({"names", "names that are denied within filesystem.allowWrite", true});
    if (plan.filesystem_enforced && plan.rules.restrict_execute)
        needs.push_back({"execution", "filesystem.allowExecute", true});
    if (!plan.unix_sockets.empty()) needs.push_back({"unix_sockets", "network.allowUnixSockets", true});
    return needs;
}

}  // namespace sandpipe::launcher
