#pragma once

#include <linux/filter.h>

#include <vector>

#include "launcher/kernel/failure.hpp"

namespace sandpipe::launcher {

/// What the supervisor is asked about. Where it is not there at all, the filter refuses by itself what no command may
/// do, and nobody hears of it; UNIX sockets do not exist then, but in pairs, because nobody could judge where they
/// lead.
struct Supervision {
    bool exists = false;
    bool files = false;     ///< creating, removing, changing
    bool network = false;   ///< messages to addresses out of reach: there is a network of its own
    bool reads = false;     ///< opening for reading and execution too: the policy denies some
    bool executes = false;  ///< execution is restricted: files that exist in memory only are refused as well, for they
                            ///< have no place that could be judged
};

/// Builds the commands' seccomp program (seccomp(2)) from the tables of refused and of notified calls.
[[nodiscard]] Outcome make_filter(const Supervision& supervision, std::vector<sock_filter>& filter);

}  // namespace sandpipe::launcher
