#pragma once

#include <string>
#include <vector>

#include "sandbox/policy/mount_aliases.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "sandbox/policy/policy_rules.hpp"

namespace sandpipe {

/// Adds to the entries of a denying list one for each other path to their places, where the host has mounted these
/// more than once. A path that somebody granted by that name stays granted, and is warned of. `rules` has all grants.
void add_alias_denials(std::vector<PolicyEntry>& denials, const MountAliases& aliases, const PathFacts& facts,
                       PolicyRules& rules);

}  // namespace sandpipe
