#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy/path_facts.hpp"

namespace sandpipe {

/// One mount, as proc(5) has it in /proc/PID/mountinfo.
struct HostMount {
    std::string device;  ///< "major:minor" of the file system
    std::string root;    ///< what of the file system is mounted
    std::string point;   ///< where
    std::string type;    ///< of the file system, as in /proc/filesystems
};

/// In the order of the table: what was mounted later on the same point comes later. Lines that are none are left out.
[[nodiscard]] std::vector<HostMount> parse_mount_table(std::string_view table);

/// Another path to a place, or to something below it.
struct OtherPath {
    std::string path;
    std::string place;  ///< what it leads to too
    friend auto operator<=>(const OtherPath&, const OtherPath&) = default;
};

/// The other paths that lead to `place` or into what is below it, because what of a file system holds it, or stands
/// below it, is mounted more than once, as by a bind mount or as a subvolume. Sorted. By the table alone: what is
/// mounted over such a path is not looked at.
[[nodiscard]] std::vector<OtherPath> other_paths(std::string_view place, const std::vector<HostMount>& mounts);

/// The same on a machine: only what does lead there, and nothing of what a session has of its own. Both arguments must
/// outlive it.
class MountAliases {
  public:
    MountAliases(const std::vector<HostMount>& mounts, const PathFacts& facts) : mounts_(mounts), facts_(facts) {}
    [[nodiscard]] std::vector<OtherPath> of(const std::string& place) const;
    /// Whether something that stands in one of these trees may have another path in one of them.
    [[nodiscard]] bool any_among(const std::vector<std::string>& trees) const;

  private:
    const std::vector<HostMount>& mounts_;
    const PathFacts& facts_;
};

}  // namespace sandpipe
