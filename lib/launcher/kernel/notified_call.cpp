#include "launcher/kernel/notified_call.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>

// Newer than Debian 12's headers; all architectures share these numbers.
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452  // since 6.6
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463  // since 6.13
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466  // since 6.13
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469  // since 6.17
#endif

namespace sandpipe::launcher {
namespace {

// clang-format off
constexpr auto kCalls = std::to_array<NotifiedCall>({
// The old calls, which newer architectures never had.
#ifdef __NR_open
    {__NR_open,           "open", Act::open, {.path = 0, .mode = 2}, 1, Notified::writing},
    {__NR_creat,          "open", Act::open, {.path = 0, .mode = 1, .implied_flags = O_CREAT | O_WRONLY | O_TRUNC}},
    {__NR_mkdir,          "mkdir", Act::make_directory, {.path = 0, .mode = 1}},
    {__NR_mknod,          "mknod", Act::make_node, {.path = 0, .mode = 1}},
    {__NR_symlink,        "symlink", Act::make_symlink, {.path = 1}},
    {__NR_unlink,         "unlink", Act::remove, {.path = 0}},
    {__NR_rmdir,          "rmdir", Act::remove, {.path = 0, .implied_flags = AT_REMOVEDIR}},
    {__NR_rename,         "rename", Act::rename, {.path = 0, .second_path = 1}},
    {__NR_link,           "link", Act::link, {.path = 0, .second_path = 1}},
    {__NR_chmod,          "chmod", Act::change_mode, {.path = 0, .mode = 1}},
    {__NR_chown,          "chown", Act::change, {.path = 0}},
    {__NR_lchown,         "chown", Act::change, {.path = 0, .implied_flags = AT_SYMLINK_NOFOLLOW}},
    {__NR_utime,          "utimes", Act::change, {.path = 0}},
    {__NR_utimes,         "utimes", Act::change, {.path = 0}},
    {__NR_futimesat,      "utimes", Act::change, {.directory = 0, .path = 1}},
#endif
#ifdef __NR_readlink
    {__NR_readlink,       "readlink", Act::read_link, {.path = 0}},
#endif
#ifdef __NR_renameat
    {__NR_renameat,       "rename", Act::rename, {.directory = 0, .path = 1, .second_directory = 2, .second_path = 3}},
#endif
    {__NR_openat,         "open", Act::open, {.directory = 0, .path = 1, .mode = 3}, 2, Notified::writing},
    // Its flags are in memory, where no filter can see them.
    {__NR_openat2,        "open", Act::open, {.directory = 0, .path = 1}},
    {__NR_mkdirat,        "mkdir", Act::make_directory, {.directory = 0, .path = 1, .mode = 2}},
    {__NR_mknodat,        "mknod", Act::make_node, {.directory = 0, .path = 1, .mode = 2}},
    {__NR_symlinkat,      "symlink", Act::make_symlink, {.directory = 1, .path = 2}},
    {__NR_unlinkat,       "unlink", Act::remove, {.directory = 0, .path = 1, .flags = 2}},
    {__NR_renameat2,      "rename", Act::rename, {.directory = 0, .path = 1, .second_directory = 2, .second_path = 3, .flags = 4}},
    {__NR_linkat,         "link", Act::link, {.directory = 0, .path = 1, .second_directory = 2, .second_path = 3, .flags = 4}},
    {__NR_truncate,       "truncate", Act::change, {.path = 0}},
    {__NR_fchmodat,       "chmod", Act::change_mode, {.directory = 0, .path = 1, .mode = 2}},
    {__NR_fchmodat2,      "chmod", Act::change_mode, {.directory = 0, .path = 1, .flags = 3, .mode = 2}},
    {__NR_fchownat,       "chown", Act::change, {.directory = 0, .path = 1, .flags = 4}},
    {__NR_utimensat,      "utimes", Act::change, {.directory = 0, .path = 1, .flags = 3}},
    {__NR_setxattr,       "setxattr", Act::set_attribute, {.path = 0, .attribute = 1}},
    {__NR_lsetxattr,      "setxattr", Act::set_attribute, {.path = 0, .attribute = 1, .implied_flags = AT_SYMLINK_NOFOLLOW}},
    {__NR_setxattrat,     "setxattr", Act::set_attribute, {.directory = 0, .path = 1, .flags = 2, .attribute = 3}},
    {__NR_removexattr,    "removexattr", Act::change, {.path = 0}},
    {__NR_lremovexattr,   "removexattr", Act::change, {.path = 0, .implied_flags = AT_SYMLINK_NOFOLLOW}},
    {__NR_removexattrat,  "removexattr", Act::change, {.directory = 0, .path = 1, .flags = 2}},
    // A descriptor may have been opened for reading only, which the policy allows.
    {__NR_fchmod,         "chmod", Act::change_mode, {.directory = 0, .path = -1, .mode = 1}},
    {__NR_fchown,         "chown", Act::change, {.directory = 0, .path = -1}},
    {__NR_fsetxattr,      "setxattr", Act::set_attribute, {.directory = 0, .path = -1, .attribute = 1}},
    {__NR_fremovexattr,   "removexattr", Act::change, {.directory = 0, .path = -1}},
    {__NR_ioctl,          "setattr", Act::change, {.directory = 0, .path = -1}, 1, Notified::attributes},
    {__NR_file_setattr,   "setattr", Act::change, {.directory = 0, .path = 1, .flags = 4}},
    {__NR_chdir,          "chdir", Act::enter, {.path = 0}},
    {__NR_readlinkat,     "readlink", Act::read_link, {.directory = 0, .path = 1}},
    {__NR_execve,         "exec", Act::execute, {.path = 0}},
    {__NR_execveat,       "exec", Act::execute, {.directory = 0, .path = 1, .flags = 4}},
    {__NR_mmap,           "mmap", Act::map, {.directory = 4, .path = -1}, -1, Notified::mapping},
    {__NR_mprotect,       "mprotect", Act::make_executable, {.path = -1}, 2, Notified::protection},
    {__NR_pkey_mprotect,  "mprotect", Act::make_executable, {.path = -1}, 2, Notified::protection},
    {__NR_umask,          "umask", Act::set_file_mask, {.path = -1}},
    {__NR_connect,        "connect", Act::connect, {}},
    {__NR_bind,           "bind", Act::bind, {}},
    {__NR_sendto,         "sendto", Act::send, {}, 4, Notified::non_null},
    {__NR_sendmsg,        "sendmsg", Act::send_message, {}, 2, Notified::unmarked},
    {__NR_sendmmsg,       "sendmmsg", Act::send_message, {}},
});
// clang-format on

constexpr bool each_once() {
    for (std::size_t i = 0; i < kCalls.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (kCalls[i].number == kCalls[j].number) return false;
    return true;
}
static_assert(each_once(), "one row for each system call");

constexpr bool pairs_have_two_paths(const NotifiedCall& call) {
    return (call.act == Act::rename || call.act == Act::link) == (call.at.second_path >= 0);
}
static_assert(std::all_of(kCalls.begin(), kCalls.end(), pairs_have_two_paths));

}  // namespace

std::span<const NotifiedCall> notified_calls() { return kCalls; }

const NotifiedCall* find_notified_call(int number) {
    const auto found = std::find_if(kCalls.begin(), kCalls.end(),
                                    [number](const NotifiedCall& call) { return call.number == number; });
    return found == kCalls.end() ? nullptr : &*found;
}

}  // namespace sandpipe::launcher
