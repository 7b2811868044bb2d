#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sandpipe::launcher {

// The mount calls by descriptor (open_tree(2), mount_setattr(2), move_mount(2), fsopen(2)), so that every
// step is about the place that was looked at and a tree gets its flags before anybody can reach it. All
// return 0 or -errno and set CLOEXEC.

/// An O_PATH descriptor of an absolute path; -ELOOP if there is a symbolic link anywhere in it.
[[nodiscard]] int open_place(const std::string& path, unique_fd& place);
/// The same for a path relative to `directory`.
[[nodiscard]] int open_place_below(int directory, const std::string& path, unique_fd& place);

/// A detached copy of the mounts at and below `place`. The mount of `place` must be one of this mount
/// namespace.
[[nodiscard]] int clone_tree(int place, unique_fd& tree);
/// Mounts a detached tree on top of `place`.
[[nodiscard]] int attach(int tree, int place);

struct MountFlags {
    std::uint64_t set = 0;  ///< MOUNT_ATTR_*
    std::uint64_t clear = 0;
};
[[nodiscard]] int flag_mount(int mount, MountFlags flags);
/// For all mounts of the tree, or for none.
[[nodiscard]] int flag_tree(int mount, MountFlags flags);
[[nodiscard]] int make_tree_private(int mount);

/// An option of a file system; without a value a flag.
struct FilesystemOption {
    const char* name;
    const char* value = nullptr;
};
/// A new file system as a detached mount.
[[nodiscard]] int make_filesystem(const char* type, std::span<const FilesystemOption> options,
                                  std::uint64_t flags, unique_fd& mount);
/// A tmpfs whose root has `mode` (in octal); `bytes` 0: the kernel's default, half of the memory.
[[nodiscard]] int make_tmpfs(const char* mode, std::uint64_t bytes, unique_fd& mount);

/// What a skeleton on a file system of ours is made with, whatever the umask.
struct SkeletonModes {
    unsigned directory;
    unsigned file;
};
/// Makes `path` (relative) below `root` with all its parents, for something to be mounted on. What is there
/// stays.
[[nodiscard]] int make_mount_point(int root, std::string_view path, bool is_directory, SkeletonModes modes);

}  // namespace sandpipe::launcher
