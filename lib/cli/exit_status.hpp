#pragma once

#include <sandpipe/result.hpp>

#include <csignal>

namespace sandpipe::cli {

inline constexpr int kStatusLost = 122;
inline constexpr int kStatusOutputLimit = 123;
inline constexpr int kStatusTimedOut = 124;
inline constexpr int kStatusRefused = 125;  ///< options, policy, cwd or sandbox
inline constexpr int kStatusNotExecutable = 126;
inline constexpr int kStatusNotFound = 127;

/// What `sandpipe` exits with for a command that ended so. `cancelled_by`: the signal to us that made us stop
/// it. The cause decides before the status: a command that exits with 0 after its timeout has timed out.
/// Pure.
[[nodiscard]] int exit_status(const CommandFacts& facts, int cancelled_by = SIGTERM);

/// The exit status is the command's own code, and needs no explanation.
[[nodiscard]] bool is_own_status(const CommandFacts& facts);

}  // namespace sandpipe::cli
