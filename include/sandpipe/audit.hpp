#pragma once

#include <sandpipe/denial.hpp>
#include <sandpipe/end_status.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sandpipe {

/// A command is about to run OUTSIDE of the sandbox, because `bypass` said so. Told before it starts.
struct Bypass {
    std::string program;            ///< as it was asked for
    std::vector<std::string> args;  ///< without the program itself
    std::string resolved;           ///< the file it leads to, links followed; empty if none was found
    bool interpreter = false;       ///< a known one, which runs whatever its arguments or its input say
};

/// The sandbox refused an act of the command.
struct DeniedAct {
    Denial denial;
};

/// The command did not start: refused, cancelled before its start, too late, or impossible.
struct StartFailed {
    std::string program;  ///< as it was asked for
    NotStarted failure;
};

/// The session runs without a mechanism that this machine lacks, because its options allow that.
struct Weaker {
    std::string mechanism;  ///< as in the EnforcementReport
    std::string text;
};

/// A command, or a session made from another, runs under a narrower policy than its session's.
struct Narrowed {
    std::string text;  ///< what was taken away
};

/// What the user should know of a policy on this machine, such as a second link to a protected file.
struct PolicyWarning {
    std::string text;
};

/// One event for whoever answers for the sandbox.
struct AuditEvent {
    /// As in log records and `CommandStream::id`; 0 where it is about no single command.
    std::uint64_t command_id = 0;
    std::chrono::system_clock::time_point time{};  ///< when it happened
    std::variant<Bypass, DeniedAct, StartFailed, Weaker, Narrowed, PolicyWarning> what;
};

/// "bypass", "denied", "start_failed", "weaker", "narrowed" or "warning".
[[nodiscard]] std::string_view kind_name(const AuditEvent& event) noexcept;

/// Takes the events of a command in their order. Runs on the awaiting coroutine's executor, never two events of one
/// command at once; events of different commands may come at once where that executor has several threads. What it
/// throws (a std::exception) is counted and ignored, except for a `Bypass`: then the command does not start.
using AuditSink = std::function<void(const AuditEvent&)>;

}  // namespace sandpipe
