#pragma once

#include <sandpipe/result.hpp>

#include <csignal>

#include "process/start_failure.hpp"

namespace sandpipe::cli {

inline constexpr int kStatusLost = 122;
inline constexpr int kStatusOutputLimit = 123;
inline constexpr int kStatusTimedOut = 124;
// Those of relays too.
using detail::kStatusRefused;  ///< options, policy, cwd or sandbox
using detail::kStatusNotExecutable;
using detail::kStatusNotFound;

/// What `sandpipe` exits with for a command that ended so. `cancelled_by`: the signal to us that made us stop
/// it. The cause decides before the status: a command that exits with 0 after its timeout has timed out.
/// Pure.
[[nodiscard]] int exit_status(const CommandFacts& facts, int cancelled_by = SIGTERM);

/// The exit status is the command's own code, and needs no explanation.
[[nodiscard]] bool is_own_status(const CommandFacts& facts);

}  // namespace sandpipe::cli
