#include "launcher/kernel/mounts.hpp"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <cerrno>

#include "sys/raw_syscall.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe::launcher {
namespace {

using sys::raw_syscall;
using sys::word;

int take(long result, unique_fd& fd) {
    if (result < 0) return static_cast<int>(result);
    fd.reset(static_cast<int>(result));
    return 0;
}

int set_attributes(int mount, unsigned flags, const mount_attr& attributes) {
    return static_cast<int>(raw_syscall(SYS_mount_setattr, mount, word(""), AT_EMPTY_PATH | flags,
                                        word(&attributes), sizeof attributes));
}

mount_attr attributes_of(MountFlags flags) {
    mount_attr attributes{};
    attributes.attr_set = flags.set;
    attributes.attr_clr = flags.clear;
    return attributes;
}

int configure(int context, const FilesystemOption& option) {
    const long command = option.value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
    return static_cast<int>(
        raw_syscall(SYS_fsconfig, context, command, word(option.name), word(option.value), 0));
}

/// Goes into the directory `name` below `directory`, which is made if it is not there.
int enter_directory(unique_fd& directory, int root, const std::string& name, unsigned mode) {
    const int parent = directory ? directory.get() : root;
    const long made = raw_syscall(SYS_mkdirat, parent, word(name.c_str()), mode);
    if (made < 0 && made != -EEXIST) return static_cast<int>(made);
    if (made == 0)
        if (const long error = raw_syscall(SYS_fchmodat, parent, word(name.c_str()), mode); error < 0)
            return static_cast<int>(error);
    return take(
        raw_syscall(SYS_openat, parent, word(name.c_str()), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0),
        directory);
}

int make_file(int directory, const std::string& name, unsigned mode) {
    const long made = raw_syscall(SYS_mknodat, directory, word(name.c_str()), S_IFREG, 0);
    if (made == -EEXIST) return 0;
    if (made < 0) return static_cast<int>(made);
    return static_cast<int>(raw_syscall(SYS_fchmodat, directory, word(name.c_str()), mode));
}

}  // namespace

int open_place_below(int directory, const std::string& path, unique_fd& place) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return take(raw_syscall(SYS_openat2, directory, word(path.c_str()), word(&how), sizeof how), place);
}

int open_place(const std::string& path, unique_fd& place) {
    if (path.empty() || path.front() != '/') return -EINVAL;
    return open_place_below(AT_FDCWD, path, place);
}

int clone_tree(int place, unique_fd& tree) {
    constexpr long kFlags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE;
    return take(raw_syscall(SYS_open_tree, place, word(""), kFlags), tree);
}

int attach(int tree, int place) {
    return static_cast<int>(raw_syscall(SYS_move_mount, tree, word(""), place, word(""),
                                        MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
}

int flag_mount(int mount, MountFlags flags) { return set_attributes(mount, 0, attributes_of(flags)); }

int flag_tree(int mount, MountFlags flags) {
    return set_attributes(mount, AT_RECURSIVE, attributes_of(flags));
}

int make_tree_private(int mount) {
    mount_attr attributes{};
    attributes.propagation = MS_PRIVATE;
    return set_attributes(mount, AT_RECURSIVE, attributes);
}

int make_filesystem(const char* type, std::span<const FilesystemOption> options, std::uint64_t flags,
                    unique_fd& mount) {
    unique_fd context;
    if (const int error = take(raw_syscall(SYS_fsopen, word(type), FSOPEN_CLOEXEC), context); error < 0)
        return error;
    for (const FilesystemOption& option : options)
        if (const int error = configure(context.get(), option); error < 0) return error;
    const long created = raw_syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, 0, 0, 0);
    if (created < 0) return static_cast<int>(created);
    return take(raw_syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, static_cast<long>(flags)), mount);
}

int make_tmpfs(const char* mode, std::uint64_t bytes, unique_fd& mount) {
    const std::string size = std::to_string(bytes);
    const FilesystemOption options[] = {{"mode", mode}, {"size", size.c_str()}};
    return make_filesystem("tmpfs", std::span(options).first(bytes > 0 ? 2 : 1),
                           MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, mount);
}

int make_mount_point(int root, std::string_view path, bool is_directory, SkeletonModes modes) {
    if (path.empty()) return -EINVAL;
    unique_fd directory;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string name(path.substr(0, slash));
        const bool last = slash == std::string_view::npos;
        path.remove_prefix(last ? path.size() : slash + 1);
        const int error = last && !is_directory
                              ? make_file(directory ? directory.get() : root, name, modes.file)
                              : enter_directory(directory, root, name, modes.directory);
        if (error < 0) return error;
    }
    return 0;
}

}  // namespace sandpipe::launcher
