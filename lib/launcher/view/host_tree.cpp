#include "launcher/view/host_tree.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "launcher/kernel/mounts.hpp"
#include "launcher/kernel/own_descriptor.hpp"
#include "launcher/kernel/unnamed_copy.hpp"
#include "launcher/paths/supervised_place.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

int open_same(int directory, const std::string& path, int flags, const struct stat& status, unique_fd& again) {
    open_how how{};
    // Neither waits for the other end of a FIFO, nor gets a terminal.
    how.flags = static_cast<unsigned>((flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const long opened =
        sys::raw_syscall(SYS_openat2, directory, sys::word(path.c_str()), sys::word(&how), sizeof how);
    if (opened < 0) return static_cast<int>(opened);
    unique_fd file(static_cast<int>(opened));
    struct stat found {};
    if (::fstat(file.get(), &found) < 0) return -errno;
    if (found.st_dev != status.st_dev || found.st_ino != status.st_ino) return -ESTALE;
    again = std::move(file);
    return 0;
}

/// Nothing about it can be changed by whom the commands run as, with or without a race; or it is a terminal, whose name
/// may be that of another namespace, and then its mode is all that can.
bool is_harmless(int stream, const struct stat& status) {
    if (::isatty(stream)) return true;
    const OwnDescriptor file(stream);
    const bool writable = S_ISREG(status.st_mode) && ::faccessat(AT_FDCWD, file.path(), W_OK, AT_EACCESS) == 0;
    return status.st_uid != ::geteuid() && !writable;
}

/// All that can be changed of them is what goes through them.
bool is_pipe_or_socket(int stream, const struct stat& status) {
    if (S_ISSOCK(status.st_mode)) return true;
    struct statfs found {};
    return S_ISFIFO(status.st_mode) && ::fstatfs(stream, &found) == 0 && found.f_type == PIPEFS_MAGIC;
}

/// memfds, and what was unlinked. What has a name that cannot be told is not among them.
bool has_no_name(const struct stat& status) { return status.st_nlink == 0; }

bool is_null(const struct stat& status) {
    return S_ISCHR(status.st_mode) && status.st_rdev == ::makedev(1, 3);
}

std::uint64_t mount_of(int object) {
    struct statx found {};
    return ::statx(object, "", AT_EMPTY_PATH, STATX_MNT_ID, &found) == 0 ? found.stx_mnt_id : 0;
}

}  // namespace

int HostTree::take(int root) {
    const int error = clone_tree(root, root_);
    return error == 0 ? flag_tree(root_.get(), {MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0}) : error;
}

void ForeignFiles::add(int object) {
    struct stat status {};
    const bool known = ::fstat(object, &status) == 0;
    if (known) streams_.emplace_back(status.st_dev, status.st_ino);
    if (known && has_no_name(status))
        unnamed_.emplace_back(status.st_dev, status.st_ino);
    else
        mounts_.push_back(mount_of(object));
}

bool ForeignFiles::has(int object) const {
    struct stat status {};
    const bool on_mount = !mounts_.empty() &&
                          std::find(mounts_.begin(), mounts_.end(), mount_of(object)) != mounts_.end();
    if (on_mount || unnamed_.empty()) return on_mount;
    return ::fstat(object, &status) < 0 || std::find(unnamed_.begin(), unnamed_.end(),
                                                     Inode(status.st_dev, status.st_ino)) != unnamed_.end();
}

bool ForeignFiles::is_stream(int object) const {
    struct stat status {};
    if (streams_.empty()) return false;
    return ::fstat(object, &status) < 0 ||
           std::find(streams_.begin(), streams_.end(), Inode(status.st_dev, status.st_ino)) != streams_.end();
}

int HostTree::confine(unique_fd& stream, ForeignFiles& foreign) const {
    struct stat status {};
    const int flags = ::fcntl(stream.get(), F_GETFL);
    if (flags < 0 || ::fstat(stream.get(), &status) < 0) return -errno;
    if (S_ISDIR(status.st_mode)) return -EISDIR;
    if (flags & O_PATH) return -EBADF;
    if (is_pipe_or_socket(stream.get(), status)) return 0;
    const bool granted = (flags & O_ACCMODE) != O_RDONLY;
    bool is_own = false;
    if (!(granted && S_ISREG(status.st_mode))) {
        unique_fd again;
        int error = open_again(stream.get(), status, again, is_own);
        if (error < 0 && !granted && !is_harmless(stream.get(), status))
            error = replace_unnamed(stream.get(), status, error, again, is_own);
        else
            error = 0;
        if (error < 0) return error;
        if (again) stream = std::move(again);
    }
    if (!is_own) foreign.add(stream.get());
    return 0;
}

/// For what could not be opened again, by `error`. A FIFO without a name is a pipe like others, but for its mode.
int HostTree::replace_unnamed(int stream, const struct stat& status, int error, unique_fd& copy, bool& is_own) {
    if (has_no_name(status) && S_ISFIFO(status.st_mode)) return 0;
    if (!has_no_name(status) || !S_ISREG(status.st_mode)) return error == -EACCES ? -EPERM : error;
    error = copy_unnamed(stream, copy);
    is_own = error == 0;
    return error == -EACCES ? -EPERM : error;
}

int HostTree::open_again(int stream, const struct stat& status, unique_fd& again, bool& is_own) const {
    // The usual one, also where there is no /proc to tell its name.
    const std::string place = is_null(status) ? "/dev/null" : place_of(stream);
    if (place.empty()) return -ENOENT;
    const int flags = ::fcntl(stream, F_GETFL);
    int error = open_same(AT_FDCWD, place, flags, status, again);
    is_own = error == 0;
    if (error < 0) error = open_same(root_.get(), "." + place, flags, status, again);
    if (error < 0) return error;
    if (S_ISREG(status.st_mode) && ::lseek(again.get(), ::lseek(stream, 0, SEEK_CUR), SEEK_SET) < 0) return -errno;
    return ::fcntl(again.get(), F_SETFL, flags & O_NONBLOCK) < 0 ? -errno : 0;
}

}  // namespace sandpipe::launcher
