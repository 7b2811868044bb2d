#pragma once

#include <sandpipe/policy.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy/kernel_mounts.hpp"
#include "sandbox/policy/mount_aliases.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "sandbox/policy/policy_rules.hpp"

namespace sandpipe {

/// What the paths of a policy are relative to.
struct PathBase {
    std::string workspace;
    std::vector<std::string> passed;  ///< links on the way to it that commands of earlier sessions may have made
    std::string_view home;
    std::string_view bin_shell;
    const PathFacts& facts;
    std::vector<std::string> roots;    ///< where commands write, of this session and of those that it comes from
    std::vector<std::string> written;  ///< and further places in which earlier ones may have made links
    std::vector<HostMount> mounts;     ///< all that the host has
    KernelMounts kernel;               ///< but for what is granted by its name
    const CompiledPolicy* wider = nullptr;  ///< the session that this one may only be narrower than
};

/// The entries of one list, resolved as far as they are without globs. A name that exists just as it is written is
/// meant too, whatever its characters.
[[nodiscard]] std::vector<PolicyEntry> entries_of(const std::string& key, const std::vector<PathPattern>& patterns,
                                                  const PathBase& base);

/// A path of a policy as an absolute one, not yet resolved: "~" is the home, a relative path stands in the
/// workspace. Throws `Error` for "~" without a home, naming `key`.
[[nodiscard]] std::string absolute_path(std::string_view path, std::string_view workspace,
                                        std::string_view home, std::string_view key);

}  // namespace sandpipe
