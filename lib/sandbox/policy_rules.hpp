#pragma once

#include <sandpipe/policy.hpp>

#include <string>
#include <vector>

#include "mount_layout.hpp"
#include "path_facts.hpp"
#include "resolved_path.hpp"

namespace sandpipe {

/// One entry of a path list, resolved, with the words for speaking about it.
struct PolicyEntry {
    std::string where;     ///< "filesystem.denyRead[2]", for errors and warnings
    std::string rule;      ///< "denyRead ~/.ssh", for denials
    std::string absolute;  ///< the path before it was resolved
    ResolvedPath path;
};

/// Turns the entries of a policy's lists into rules about places. Each method takes one entry and throws
/// `Error` E_INVALID_SANDBOX_CONFIG, naming it, for what cannot be granted or denied. The order of calls
/// matters only in that devices and grants come before denials.
class PolicyRules {
  public:
    PolicyRules(const FilesystemPolicy& policy, const PathFacts& facts) : policy_(policy), facts_(facts) {}

    void allow_write(const PolicyEntry& entry);
    void allow_read(const PolicyEntry& entry);
    void deny_read(const PolicyEntry& entry);
    void deny_write(const PolicyEntry& entry);
    void grant_device(const PolicyEntry& entry);
    /// The table of mandatory_denies.hpp, in every root that allow_write has added.
    void deny_mandatory();

    void warn(std::string text) { warnings.push_back(std::move(text)); }

    MountInput found;  ///< rules, places and devices; the rest is the caller's
    std::vector<std::string> create_directories;
    std::vector<std::string> warnings;

  private:
    void allow_missing(const PolicyEntry& entry);
    void deny(wire::Access access, const PolicyEntry& entry);
    void deny_in_dev(wire::Access access, const PolicyEntry& entry);
    void deny_mandatory(const std::string& path, const std::string& rule,
                        const std::vector<std::string>& roots);
    void add(wire::Access access, const ResolvedPath& path, const std::string& rule);
    void protect_way(const ResolvedPath& path, const std::string& rule);
    void warn_of_alias(const ResolvedPath& path, const std::string& rule);

    const FilesystemPolicy& policy_;
    const PathFacts& facts_;
};

}  // namespace sandpipe
