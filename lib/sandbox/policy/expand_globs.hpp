#pragma once

#include <vector>

#include "sandbox/policy/policy_entries.hpp"
#include "sandbox/policy/policy_rules.hpp"

namespace sandpipe {

/// The entries of an allowing list with what their globs match in place of these. What a glob allows is what exists:
/// mounts and Landlock are about files, not names. A link may have been made by a command, so its name grants nothing.
[[nodiscard]] std::vector<PolicyEntry> without_globs(wire::Access access, std::vector<PolicyEntry> entries,
                                                     const PathBase& base, PolicyRules& rules);

/// Of a denying list: rules for the names that globs match, whenever they come, and places for what is there.
void deny_globs(wire::Access access, const std::vector<PolicyEntry>& entries, const PathBase& base, PolicyRules& rules);

}  // namespace sandpipe
