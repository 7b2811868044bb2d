#pragma once

#include <optional>
#include <unordered_set>

#include "launcher/command/process_table.hpp"

namespace sandpipe::launcher {

/// Passes over /proc: for stops and ends, not for every start. No snapshot: a process that is made meanwhile may be
/// missed, and so may one whose parent ends. 0, or -errno where descriptors or memory are too short to see them all:
/// then `table` stays as it is, for a look that sees nothing would say that all have ended.
[[nodiscard]] int look_at_processes(const std::unordered_set<pid_t>& leaders, std::optional<ProcessTable>& table);

/// To the members of a group whose leader is unreaped, or to the leader where it is not in its group yet.
void signal_group(pid_t leader, int signal) noexcept;
/// By pidfd, after a second look at its start time: a number that was given away since is never hit.
void signal_process(const ProcessFacts& process, int signal);

/// Ends everything below this process and reaps it; returns after at most about a second.
void end_all_descendants();

}  // namespace sandpipe::launcher
