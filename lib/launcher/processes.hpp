#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>

namespace sandpipe::launcher {

// A plain command's tree: the members of its process group, and descendants of this process that left the group and
// carry the command's mark. The group must be pinned: its leader is unreaped. Each call passes over /proc: for stops
// and ends, not for every start.

/// How many processes of the tree live; zombies do not count.
[[nodiscard]] std::size_t count_tree(pid_t group, rlim_t mark);

/// Signals the whole tree. Those outside the group are signalled by pidfd, after a second look at their mark, so that
/// a number that was given away meanwhile is never hit.
void signal_tree(pid_t group, rlim_t mark, int signal);

/// Ends everything below this process and reaps it; returns after at most about a second.
void end_all_descendants();

}  // namespace sandpipe::launcher
