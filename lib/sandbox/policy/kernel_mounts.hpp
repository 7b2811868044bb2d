#pragma once

#include <string>
#include <vector>

#include "sandbox/policy/mount_aliases.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe {

/// Where the host has mounted, other than in /proc, /sys and /dev, what the kernel shows of itself: as in the tree of a
/// chroot. Root could write there by the files' modes, without any capability, and everybody sees the host's processes.
struct KernelMounts {
    std::vector<std::string> hidden;     ///< processes, settings and insides of the kernel
    std::vector<std::string> read_only;  ///< control groups, where programs look for their limits, and the like

    /// A mount that a policy grants by the name of its point is shown, and stays read-only.
    void allow_read(const std::string& place);
    /// Control groups that a policy grants, or some of them, may be handed on by the host.
    void allow_write(const std::string& place);
    /// All of them: nothing in them has to be kept from being written.
    [[nodiscard]] std::vector<std::string> never_written() const;
};

/// Those of `mounts` that are seen at their points. Sorted. A point that nobody here can reach is among them.
[[nodiscard]] KernelMounts find_kernel_mounts(const std::vector<HostMount>& mounts, const PathFacts& facts);

/// For a session without rules for files: the settings of the machine, /sys among them, are no files, and for root
/// nothing else would close them.
[[nodiscard]] std::vector<wire::MountOp> mounts_without_rules(const KernelMounts& kernel);

}  // namespace sandpipe
