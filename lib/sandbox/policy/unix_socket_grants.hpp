#pragma once

#include <string>
#include <vector>

#include "sandbox/policy/policy_entries.hpp"

namespace sandpipe {

/// Of the paths in network.allowUnixSockets those that are granted; the others are warned of.
[[nodiscard]] std::vector<PolicyEntry> unix_sockets_of(const std::vector<std::string>& paths, const PathBase& base,
                                                       std::vector<std::string>& warnings);

/// A socket of the host that commands may connect to has to be seen, in the host's /tmp too.
void show_unix_sockets(const std::vector<PolicyEntry>& sockets, PolicyRules& rules);

}  // namespace sandpipe
