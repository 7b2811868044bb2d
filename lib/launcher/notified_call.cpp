#include "notified_call.hpp"

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
    {__NR_open,          "open",   1, Act::open, {.path = 0, .mode = 2}},
    {__NR_creat,         "open",  -1, Act::open, {.path = 0, .mode = 1, .implied_flags = O_CREAT | O_WRONLY | O_TRUNC}},
    {__NR_mkdir,         "mkdir", -1, Act::make_directory, {.path = 0, .mode = 1}},
    {__NR_mknod,         "mknod", -1, Act::make_node, {.path = 0, .mode = 1}},
    {__NR_symlink,       "symlink", -1, Act::make_symlink, {.path = 1}},
    {__NR_unlink,        "unlink", -1, Act::remove, {.path = 0}},
    {__NR_rmdir,         "rmdir", -1, Act::remove, {.path = 0, .implied_flags = AT_REMOVEDIR}},
    {__NR_rename,        "rename", -1, Act::rename, {.path = 0, .second_path = 1}},
    {__NR_link,          "link", -1, Act::link, {.path = 0, .second_path = 1}},
    {__NR_chmod,         "chmod", -1, Act::change, {.path = 0}},
    {__NR_chown,         "chown", -1, Act::change, {.path = 0}},
    {__NR_lchown,        "chown", -1, Act::change, {.path = 0, .implied_flags = AT_SYMLINK_NOFOLLOW}},
    {__NR_utime,         "utimes", -1, Act::change, {.path = 0}},
    {__NR_utimes,        "utimes", -1, Act::change, {.path = 0}},
    {__NR_futimesat,     "utimes", -1, Act::change, {.directory = 0, .path = 1}},
#endif
#ifdef __NR_renameat
    {__NR_renameat,      "rename", -1, Act::rename, {.directory = 0, .path = 1, .second_directory = 2, .second_path = 3}},
#endif
    {__NR_openat,        "open",   2, Act::open, {.directory = 0, .path = 1, .mode = 3}},
    // Its flags are in memory, where no filter can see them.
    {__NR_openat2,       "open",  -1, Act::open, {.directory = 0, .path = 1}},
    {__NR_mkdirat,       "mkdir", -1, Act::make_directory, {.directory = 0, .path = 1, .mode = 2}},
    {__NR_mknodat,       "mknod", -1, Act::make_node, {.directory = 0, .path = 1, .mode = 2}},
    {__NR_symlinkat,     "symlink", -1, Act::make_symlink, {.directory = 1, .path = 2}},
    {__NR_unlinkat,      "unlink", -1, Act::remove, {.directory = 0, .path = 1, .flags = 2}},
    {__NR_renameat2,     "rename", -1, Act::rename, {.directory = 0, .path = 1, .second_directory = 2, .second_path = 3, .flags = 4}},
    {__NR_linkat,        "link", -1, Act::link, {.directory = 0, .path = 1, .second_directory = 2, .second_path = 3, .flags = 4}},
    {__NR_truncate,      "truncate", -1, Act::change, {.path = 0}},
    {__NR_fchmodat,      "chmod", -1, Act::change, {.directory = 0, .path = 1}},
    {__NR_fchmodat2,     "chmod", -1, Act::change, {.directory = 0, .path = 1, .flags = 3}},
    {__NR_fchownat,      "chown", -1, Act::change, {.directory = 0, .path = 1, .flags = 4}},
    {__NR_utimensat,     "utimes", -1, Act::change, {.directory = 0, .path = 1, .flags = 3}},
    {__NR_setxattr,      "setxattr", -1, Act::change, {.path = 0}},
    {__NR_lsetxattr,     "setxattr", -1, Act::change, {.path = 0, .implied_flags = AT_SYMLINK_NOFOLLOW}},
    {__NR_setxattrat,    "setxattr", -1, Act::change, {.directory = 0, .path = 1, .flags = 2}},
    {__NR_removexattr,   "removexattr", -1, Act::change, {.path = 0}},
    {__NR_lremovexattr,  "removexattr", -1, Act::change, {.path = 0, .implied_flags = AT_SYMLINK_NOFOLLOW}},
    {__NR_removexattrat, "removexattr", -1, Act::change, {.directory = 0, .path = 1, .flags = 2}},
    {__NR_file_setattr,  "setattr", -1, Act::change, {.directory = 0, .path = 1, .flags = 4}},
});
constexpr auto kExecution = std::to_array<NotifiedCall>({
    {__NR_execve,        "execve", -1, Act::execute, {.path = 0}},
    {__NR_execveat,      "execve", -1, Act::execute, {.directory = 0, .path = 1, .flags = 4}},
    {__NR_mmap,          "mmap", -1, Act::map, {.directory = 4, .path = -1}},
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

std::span<const NotifiedCall> notified_execution() { return kExecution; }

const NotifiedCall* find_notified_call(int number) {
    for (const std::span<const NotifiedCall> calls : {notified_calls(), notified_execution()})
        for (const NotifiedCall& call : calls)
            if (call.number == number) return &call;
    return nullptr;
}

}  // namespace sandpipe::launcher
