#include "sandbox/policy/session_bounds.hpp"

#include <algorithm>

#include "sandbox/policy/mount_layout.hpp"

namespace sandpipe {
namespace {

using wire::Access;

/// The session's own /tmp shows nothing of the host's but what is granted in it.
bool is_hidden_in_tmp(const CompiledPolicy& session, const std::string& place) {
    return wire::holds(session.tmp, place) && !is_granted_within(session.plan.rules, session.tmp, place);
}

/// Not what is the session's own.
bool writes_on_the_host(const CompiledPolicy& session, const std::string& place) {
    const wire::AccessRules& rules = session.plan.rules;
    return rules.write(place).allowed && (!rules.enabled || rules.in_root(place));
}

}  // namespace

bool has_grant(const CompiledPolicy& wider, Access access, const std::string& place) {
    const wire::AccessRules& rules = wider.plan.rules;
    switch (access) {
        case Access::allow_write:
            return writes_on_the_host(wider, place);
        case Access::allow_execute:
            return rules.execute(place).allowed && !is_hidden_in_tmp(wider, place);
        case Access::private_write:  // a device
            return !rules.enabled ||
                   std::find(wider.devices.begin(), wider.devices.end(), place) != wider.devices.end();
        default:
            return rules.read(place).allowed && !is_hidden_in_tmp(wider, place);
    }
}

}  // namespace sandpipe
