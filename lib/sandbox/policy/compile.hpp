#pragma once

#include <sandpipe/policy.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/network/domain_rules.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe {

/// A policy applied to one workspace on one machine.
struct CompiledPolicy {
    wire::SessionPlan plan;
    DomainRules domains;                            ///< empty: no proxies
    std::vector<std::string> warnings;              ///< for the user; sorted
    std::vector<std::string> create_directories;    ///< to make (as mkdir -p) before the plan is carried out
    std::vector<std::string> git_safe_directories;  ///< resolved
    std::vector<std::string> devices;               ///< nodes below /dev that were granted
    std::string tmp;                                ///< where the session's own /tmp is; empty: nowhere
    std::vector<std::string> written;  ///< where its commands, or those of the sessions it comes from, may make links
};

/// Plans a session: resolves every path of the policy, turns the lists into rules about places, and the rules
/// into mounts. Reads the file system through `facts` only and changes nothing. The order of a list never
/// matters.
///
/// `workspace` is absolute and an existing directory; `home` is what "~" means, empty where there is none;
/// `bin_shell` may be executed even where execution is restricted. `wider`: the plan of the session that this one
/// comes from; what that does not grant is not granted and warned of, what it keeps from being read is kept here too,
/// and a link in what it lets be written is believed as little as one in this session's own roots.
///
/// Throws `Error` E_INVALID_SANDBOX_CONFIG naming the key and index for what cannot be granted or denied,
/// E_SANDBOX_POLICY_CONFLICT for a device that is granted and denied, and for another workspace than the wider one's.
[[nodiscard]] CompiledPolicy compile(const SandboxPolicy& policy, std::string_view workspace,
                                     std::string_view home, const PathFacts& facts,
                                     std::string_view bin_shell = {}, const CompiledPolicy* wider = nullptr);

}  // namespace sandpipe
