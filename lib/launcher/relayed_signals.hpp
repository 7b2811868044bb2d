#pragma once

#include <signal.h>

#include "wire/relay_messages.hpp"

namespace sandpipe::launcher {

enum class RelayedAs : unsigned char {
    itself,   ///< to the command's first process, as kill(2) of the relay's own number means
    ending,   ///< to all of its processes, as from a terminal, with SIGCONT behind it so that stopped ones act on it
    stop,     ///< SIGSTOP to all, then the relay stops too: without a terminal of its own SIGTSTP would do nothing
    resume,   ///< SIGCONT to all
    nothing,  ///< about the relay itself
};

/// What the relay makes of each signal. The one table.
[[nodiscard]] constexpr RelayedAs relayed_as(int signal) noexcept {
    switch (signal) {
        case SIGTERM:
        case SIGINT:
        case SIGHUP:
        case SIGQUIT:
            return RelayedAs::ending;
        case SIGTSTP:
        case SIGTTIN:
        case SIGTTOU:
            return RelayedAs::stop;
        case SIGCONT:
            return RelayedAs::resume;
        case SIGKILL:
        case SIGSTOP:
        case SIGCHLD:
        case SIGILL:
        case SIGTRAP:
        case SIGBUS:
        case SIGFPE:
        case SIGSEGV:
        case SIGSYS:
            return RelayedAs::nothing;
        default:
            return RelayedAs::itself;
    }
}

}  // namespace sandpipe::launcher
