#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace sandpipe::launcher {

/// One line of /proc/PID/stat, as far as it matters here.
struct ProcessFacts {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    bool dead = false;  ///< a zombie
};

/// All processes below this one, in no order. One pass over /proc: for stops and ends, not for every start.
[[nodiscard]] std::vector<ProcessFacts> descendants();

/// What belongs to a plain command and lives: the members of its group, and descendants that left it and
/// still carry `mark` ("NAME=VALUE") in the environment they were started with (proc(5), environ).
[[nodiscard]] std::vector<pid_t> tree_members(pid_t group, std::string_view mark);

/// Signals the whole tree. The group must be pinned: its leader is unreaped. The others are signalled by
/// pidfd, after a second look at their mark, so that a number that was given away meanwhile is never hit.
void signal_tree(pid_t group, std::string_view mark, int signal);

/// Ends everything below this process and reaps it; returns after at most about a second.
void end_all_descendants();

}  // namespace sandpipe::launcher
