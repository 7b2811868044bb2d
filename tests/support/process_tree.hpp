#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace sandpipe::testing {

/// Children of `parent`, zombies too, in order of their numbers.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);
/// The helpers that this process started: nobody's children, so they are found by its descriptors of them.
[[nodiscard]] std::vector<pid_t> launchers_of(pid_t host);
/// Children, launchers and all below them.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t parent);
/// Whose command line contains `text`.
[[nodiscard]] std::vector<pid_t> processes_with(const std::string& text);
/// Waits until all of them have ended; false if some have not in time.
[[nodiscard]] bool all_end_within(const std::vector<pid_t>& pids, std::chrono::milliseconds time);
/// How many descriptors this process has open.
[[nodiscard]] std::size_t open_descriptors();
/// Words that no other process has in its command line: a number of seconds for sleep(1).
[[nodiscard]] std::string unique_seconds();

}  // namespace sandpipe::testing
