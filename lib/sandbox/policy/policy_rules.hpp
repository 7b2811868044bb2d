#pragma once

#include <sandpipe/policy.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/policy/glob_search.hpp"
#include "sandbox/policy/kernel_mounts.hpp"
#include "sandbox/policy/mandatory_denies.hpp"
#include "sandbox/policy/mount_aliases.hpp"
#include "sandbox/policy/mount_layout.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {

struct CompiledPolicy;

/// One entry of a path list, resolved, with the words for speaking about it.
struct PolicyEntry {
    std::string where;     ///< "filesystem.denyRead[2]", for errors and warnings
    std::string rule;      ///< "denyRead ~/.ssh", for denials
    std::string absolute;  ///< the path before it was resolved
    ResolvedPath path;
    std::string glob;       ///< relative to `path`; empty: the entry is about the place itself
    bool expanded = false;  ///< the place is what a glob matched
};

/// Turns the entries of a policy's lists into rules about places. Each method takes one entry and throws
/// `Error` E_INVALID_SANDBOX_CONFIG, naming it, for what cannot be granted or denied. Devices and grants come
/// before denials.
class PolicyRules {
  public:
    /// `written`: the places in which commands of earlier sessions may have made links. `wider`: the session that this
    /// one may only be narrower than; null: none.
    PolicyRules(const FilesystemPolicy& policy, std::vector<std::string> written, const CompiledPolicy* wider,
                const PathFacts& facts)
        : policy_(policy), written_(std::move(written)), wider_(wider), facts_(facts) {}

    void allow_write(const PolicyEntry& entry);
    void allow_read(const PolicyEntry& entry);
    /// Entries that lead by links in places where commands write: they lift nothing of what is `denied`, or what the
    /// rules deny already. All other grants come before.
    void allow_read_by_links(const std::vector<PolicyEntry>& entries, const std::vector<PolicyEntry>& denied);
    void deny_read(const PolicyEntry& entry);
    void deny_write(const PolicyEntry& entry);
    void grant_device(const PolicyEntry& entry);
    void allow_execute(const PolicyEntry& entry);
    /// Whether an entry that grants leads, by a link that a command may have made, where nobody meant it to; then it is
    /// warned of and grants nothing.
    [[nodiscard]] bool leads_astray(const PolicyEntry& entry);
    /// A name that grants whatever has it: in a root, commands can neither make, remove nor move that.
    void protect_name(const PolicyEntry& entry);
    /// A glob that allows, but nothing exists that it matches.
    void nothing_found(wire::Access access, const PolicyEntry& glob);
    /// A rule about every name that the glob matches, now or later.
    void deny_glob(wire::Access access, const PolicyEntry& entry);
    /// What exists and matches a denying glob gets a mount. The rules for what is allowed must be complete.
    void deny_found(wire::Access access, const PolicyEntry& glob, const GlobFind& name);
    /// A directory that could not be searched is denied as a whole where a command could get to what is in it.
    void deny_gap(wire::Access access, const PolicyEntry& glob, const GlobGap& gap);
    void warn_of_gap(const PolicyEntry& glob, const GlobGap& gap);
    /// Of the warnings from this one on, all of one kind, only some stay: a command may have caused any number.
    void fold_warnings(std::size_t first,
                       std::string_view rest = "directories cannot be searched for what globs match");
    /// For roots in linked worktrees: their repository can be written too, where its pointers can be
    /// believed.
    void allow_git_worktrees();
    void deny_kernel_mounts(const KernelMounts& kernel, const std::string& workspace);
    /// What the wider session cannot read or write stays denied, wherever the policy's paths lead by now, and whatever
    /// is a root of its own by now.
    void keep_denials();
    /// The table of mandatory_denies.hpp, in every root that allow_write has added, but not in what is `passed_over`.
    void deny_mandatory(const std::vector<std::string>& passed_over, const MountAliases& aliases);

    /// Whether the session sees what the host has at `place`: not in a /tmp that nobody granted.
    [[nodiscard]] bool is_shown(const std::string& place) const;

    void warn(std::string text) { warnings.push_back(std::move(text)); }

    MountInput found;  ///< rules, places and devices; the rest is the caller's
    std::vector<std::string> create_directories;
    std::vector<std::string> warnings;

  private:
    /// Whether the wider session has not what this would grant; then it is warned of and not granted.
    [[nodiscard]] bool exceeds(wire::Access access, const PolicyEntry& entry);
    /// Whether a denied path leads, by a link that a command may have made, to what no policy can deny, or to what the
    /// session is for: that must not keep it from starting. The link is protected then.
    bool is_void_by_link(wire::Access access, const PolicyEntry& entry);
    /// Whether with `place` the workspace, a root or /tmp would be denied.
    [[nodiscard]] bool takes_away_written(wire::Access access, const std::string& place) const;
    [[nodiscard]] bool can_be_masked(const std::string& directory) const;
    void deny_behind_link(wire::Access access, const PolicyEntry& glob, const GlobFind& found_link);
    [[nodiscard]] bool is_allowed_by_name(const std::string& place) const;
    void grant_devices_in(const PolicyEntry& entry);
    void allow_missing(const PolicyEntry& entry);
    void deny(wire::Access access, const PolicyEntry& entry);
    void deny_in_dev(wire::Access access, const PolicyEntry& entry);
    /// Also by its other paths, if there are `aliases`. Returns whether something exists there.
    bool deny_mandatory(const MandatoryPlace& place, const std::vector<std::string>& roots,
                        const MountAliases* aliases);
    void add(wire::Access access, const ResolvedPath& path, const std::string& rule, bool expanded = false);
    void protect_way(const ResolvedPath& path, const std::string& rule);
    void warn_of_alias(const ResolvedPath& path, const std::string& rule);
    /// Of a link of an always denied name that takes away from what was granted.
    void warn_of_link(const ResolvedPath& path, const std::string& rule);

    const FilesystemPolicy& policy_;
    const std::vector<std::string> written_;
    const CompiledPolicy* const wider_;
    std::set<std::string> exceeding_;  ///< entries, of which a glob may match any number of places
    std::set<std::string> warned_links_;
    const PathFacts& facts_;
};

}  // namespace sandpipe
