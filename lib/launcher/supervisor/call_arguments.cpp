#include "launcher/supervisor/call_arguments.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

#include "launcher/paths/judge.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

int only(int flags, int known) { return flags & ~known ? -EINVAL : 0; }

/// The kernel itself is asked: which flags mean something together changes with its versions.
int check_how(const Call& call) {
    const open_how& how = call.how;
    const long error = call.row->number == __NR_openat2
                           ? sys::raw_syscall(SYS_openat2, AT_FDCWD, sys::word(""), sys::word(&how), sizeof how)
                           : sys::raw_syscall(SYS_openat, AT_FDCWD, sys::word(""), static_cast<long>(how.flags),
                                              static_cast<long>(how.mode));
    return error == -EINVAL ? -EINVAL : 0;
}

int check_node(mode_t mode) {
    switch (mode & S_IFMT) {
        case 0:
        case S_IFREG:
        case S_IFIFO:
        case S_IFSOCK:
        case S_IFCHR:
        case S_IFBLK:
            return 0;
        case S_IFDIR:
            return -EPERM;
        default:
            return -EINVAL;
    }
}

}  // namespace

int check_arguments(const Call& call) {
    switch (call.row->act) {
        case Act::open:
            return check_how(call);
        case Act::rename:
            return is_rename(static_cast<unsigned>(call.flags)) ? 0 : -EINVAL;
        case Act::link:
            return only(call.flags, AT_SYMLINK_FOLLOW | AT_EMPTY_PATH);
        case Act::remove:
            return only(call.flags, AT_REMOVEDIR);
        case Act::change_mode:
            return only(call.flags, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
        case Act::set_attribute:
            return only(call.flags, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
        case Act::make_symlink:
            return call.text.empty() ? -ENOENT : 0;
        case Act::make_node:
            return check_node(call.mode);
        default:
            return 0;
    }
}

}  // namespace sandpipe::launcher
