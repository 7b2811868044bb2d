#pragma once

#include <sandpipe/environment.hpp>

#include "sandbox/network/domain_rules.hpp"

namespace sandpipe {

/// The variables by which programs in a session find its proxies. What the rules grant of the host's loopback is left
/// out of NO_PROXY, because there the session's own would be meant. `relay`: the session has the relay for ssh. Pure.
[[nodiscard]] Environment proxy_variables(const DomainRules& rules, bool relay);

}  // namespace sandpipe
