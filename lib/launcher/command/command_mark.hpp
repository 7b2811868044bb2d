#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace sandpipe::launcher {

// What tells the processes of one plain command from those of another, wherever they went: a value of RLIMIT_LOCKS that
// no other command has. Children inherit it through fork and execve (getrlimit(2)), whatever becomes of their session,
// group, parent and environment; the kernel has not looked at this limit since Linux 2.4.25, so it limits nothing; and
// /proc/PID/limits shows it to everybody, of set-uid programs too.

/// The limit for one more command: the soft limit is its mark, never 0; the hard one stays as it is.
[[nodiscard]] rlimit fresh_mark();

/// What the process carries, or 0. 0 or -errno.
[[nodiscard]] int read_mark(pid_t pid, rlim_t& mark);

}  // namespace sandpipe::launcher
