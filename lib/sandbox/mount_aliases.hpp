#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sandpipe {

/// One mount, as proc(5) has it in /proc/PID/mountinfo.
struct HostMount {
    std::string device;  ///< "major:minor" of the file system
    std::string root;    ///< what of the file system is mounted
    std::string point;   ///< where
};

/// In the order of the table: what was mounted later on the same point comes later. Lines that are none are left out.
[[nodiscard]] std::vector<HostMount> parse_mount_table(std::string_view table);

/// The other paths that lead to `place`, because what of its file system holds it is mounted more than once, as by a
/// bind mount or as a subvolume. Sorted. By the table alone: what is mounted over such a path is not looked at.
[[nodiscard]] std::vector<std::string> other_paths(std::string_view place, const std::vector<HostMount>& mounts);

}  // namespace sandpipe
