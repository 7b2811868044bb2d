#pragma once

#include <sandpipe/result.hpp>

#include <csignal>

#include "wire/relay_messages.hpp"

namespace sandpipe::detail {

// What the command line and entering relays exit with, as shells and timeout(1) have it.
using wire::kStatusLost;
using wire::kStatusRefused;
inline constexpr int kStatusOutputLimit = 123;
inline constexpr int kStatusTimedOut = 124;
inline constexpr int kStatusNotExecutable = 126;  ///< the program is there and the kernel will not execute it
inline constexpr int kStatusNotFound = 127;       ///< the program or its interpreter is not there

/// The exit status that stands for an end. `cancelled_by`: the signal that stands for the wish to stop it. The cause
/// decides before the status: a command that exits with 0 after its timeout has timed out. Pure.
[[nodiscard]] int exit_status(const CommandFacts& facts, int cancelled_by = SIGTERM);

/// The exit status is the command's own code, and needs no explanation.
[[nodiscard]] bool is_own_status(const CommandFacts& facts);

}  // namespace sandpipe::detail
