#pragma once

#include <sandpipe/denial.hpp>
#include <sandpipe/end_status.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sandpipe {

/// What is known of one output stream. `bytes` counts all that was read, `kept` what the result holds.
struct StreamFacts {
    std::uint64_t bytes = 0;
    std::uint64_t kept = 0;
    bool truncated = false;
};

/// The facts that a settled and a streamed command share. Durations are on the steady clock.
struct CommandFacts {
    int exit_code = -1;  ///< the program's own; -1 when it has none
    bool failed = true;  ///< anything but (exited with 0 AND cause finished)
    EndStatus status = NotStarted{};
    Cause cause = Cause::not_started;
    bool forced = false;                ///< SIGKILL was needed
    bool pipe_held_open = false;        ///< something else kept an output pipe open after the command's exit
    std::uint32_t survivors_ended = 0;  ///< processes of the command that outlived it and were killed
    /// SIGKILL has not ended all of it in time: a program that took another user's rights (set-uid, sudo), or one that
    /// the kernel holds. It may still run, whatever `status` says.
    bool abandoned = false;
    StreamFacts out_facts;
    StreamFacts err_facts;
    std::optional<std::chrono::nanoseconds> timeout;  ///< the one that applied, if any
    std::chrono::nanoseconds queued{};                ///< from the call to the start
    std::chrono::nanoseconds wall{};                  ///< from the start to the exit
    std::chrono::nanoseconds user{};  ///< CPU time, of the command and the children it waited for
    std::chrono::nanoseconds system{};
    std::uint64_t max_rss = 0;  ///< bytes; the largest resident set of any one of those processes
};

/// The settled result of a command.
struct BinaryExecResult : CommandFacts {
    std::string out;  ///< bytes, as the program wrote them; all output when the order is merged
    std::string err;
};

/// The result of a streamed command: its output went through the stream.
struct CommandResult : CommandFacts {
    std::vector<Denial> denials;           ///< all of them, in order
    bool denials_complete = true;          ///< false where the kernel lacks what reporting needs
    std::optional<std::string> limit_hit;  ///< the resource limit that the kernel counted as hit
    std::string marker;                    ///< the number in this command's markers: 12 hex digits
};

}  // namespace sandpipe
