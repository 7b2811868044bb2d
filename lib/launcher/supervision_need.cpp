#include "launcher/supervision_need.hpp"

#include <algorithm>

namespace sandpipe::launcher {
namespace {

using wire::Access;
using wire::AccessRule;

/// A denied name that does not exist has nothing on it that could be mounted over, and one that does exist can be moved
/// away with what is above it.
bool has_denied_names(const wire::AccessRules& rules) {
    const std::vector<AccessRule> all = rules.all();
    return std::any_of(all.begin(), all.end(), [&](const AccessRule& rule) {
        const bool writable = rule.access == Access::allow_write || rule.access == Access::private_write;
        return writable && !(rules.protected_below(rule.place).empty() && rules.globs_below(rule.place).empty());
    });
}

}  // namespace

std::vector<SupervisionNeed> supervision_needs(const wire::SessionPlan& plan) {
    std::vector<SupervisionNeed> needs;
    if (plan.filesystem_enforced && has_denied_names(plan.rules))
        needs.push_back({"names", "names that are denied within filesystem.allowWrite"});
    if (plan.filesystem_enforced && plan.rules.restrict_execute)
        needs.push_back({"execution", "filesystem.allowExecute"});
    if (!plan.unix_sockets.empty()) needs.push_back({"unix_sockets", "network.allowUnixSockets"});
    return needs;
}

}  // namespace sandpipe::launcher
