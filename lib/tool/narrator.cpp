#include "narrator.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <variant>

#include "overloaded.hpp"
#include "stage_kind.hpp"

namespace sandpipe::tool {
namespace {

// A remedy in the model's reach, where there is one.
std::string advice(StageKind kind) {
    switch (kind) {
        case StageKind::machine:
            return " The sandbox could not be set up here; a different command will not help.";
        case StageKind::directory:
            return " Give a cwd that exists in the workspace.";
        case StageKind::shell:
            return " The session's shell cannot be started; a different command will not help.";
        case StageKind::length:
            return " The command is too long: write it to a file in the workspace and run that.";
        case StageKind::busy:
            return " The machine is busy: try again later.";
        case StageKind::input:
            return " Correct the input.";
    }
    return "";
}

std::string not_started(const NotStarted& start) {
    const bool of_the_machine = is_of_the_machine(start.stage);
    std::string text = "The command was not started: " + std::string(to_string(start.stage));
    if (!start.path.empty() && !of_the_machine) text += " " + start.path;
    if (start.error) text += ": " + start.error.message();
    if (start.hint.empty() || of_the_machine) return text + "." + advice(kind_of(start.stage));
    return text + "; " + start.hint + ".";
}

std::string advice(DenialKind kind) {
    switch (kind) {
        case DenialKind::write:
            return " Write in a place that the policy allows, or do without it.";
        case DenialKind::read:
            return " What may not be read stays unread: do without it.";
        case DenialKind::exec:
            return " Use a program that may be run.";
        case DenialKind::connect:
            return " That address cannot be reached from here: use what is on this machine.";
        case DenialKind::domain:
            return " That host is not allowed: use an allowed one, or do without it.";
        case DenialKind::socket:
            return " That kind of socket cannot be used here.";
        case DenialKind::syscall:
            return " That system call cannot be used here: use another program or option.";
    }
    return "";
}

constexpr auto kLastKind = DenialKind::syscall;

// By the policy's own names of the limits, of which the kernel's counts speak.
struct LimitAdvice {
    std::string_view name;
    std::string_view text;
};
constexpr std::array<LimitAdvice, 6> kLimitAdvice{{
    {"memory", "Work on less at once."},
    {"pids", "Start fewer processes at once, such as by make -j1."},
    {"cpu", "Do less in one command."},
    {"file", "Write smaller files."},
    {"open", "Keep fewer files open."},
    {"tmp", "Remove what is no longer needed below /tmp, or write to the workspace."},
}};

std::string limit(const std::string& name) {
    std::string text = " It reached its resource limit: " + name + ".";
    for (const LimitAdvice& entry : kLimitAdvice)
        if (name.starts_with(entry.name)) return text + " " + std::string(entry.text);
    return text;
}

std::string signaled(int signal) {
    const std::string text = "The command was killed by " + signal_name(signal);
    switch (signal) {
        case SIGSEGV:
        case SIGBUS:
        case SIGILL:
        case SIGFPE:
        case SIGABRT:
            return text + ": a program crashed.";
        case SIGSYS:
            return text + ": it made a system call that the sandbox forbids.";
        case SIGXCPU:
            return text + ": its limit of CPU time is used up.";
        case SIGXFSZ:
            return text + ": it wrote a larger file than is allowed.";
        default:
            return text + ".";
    }
}

// What shells say by their own exit codes: POSIX, Shell Command Language, 2.8.2.
std::string shell_code(int code) {
    constexpr int kBySignal = 128;
    if (code == 126) return " The shell found a program that it could not execute.";
    if (code == 127) return " The shell did not find a program.";
    if (code > kBySignal && code <= kBySignal + SIGRTMAX)
        return " For a shell this means that " + signal_name(code - kBySignal) + " ended a program.";
    return "";
}

std::string finished(const EndStatus& status) {
    const Overloaded cases{
        [](const Exited& exited) {
            return "The command finished with exit code " + std::to_string(exited.code) + "." +
                   shell_code(exited.code);
        },
        [](const Signaled& ending) { return signaled(ending.signal); },
        [](const NotStarted& start) { return not_started(start); },
    };
    return std::visit(cases, status);
}

std::string timed_out(const CommandResult& result) {
    if (std::holds_alternative<NotStarted>(result.status)) return finished(result.status);
    std::string text = "The command ran into its timeout";
    if (result.timeout) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*result.timeout);
        text += " of " + std::to_string(seconds.count()) + " s";
    }
    return text +
           " and was ended with everything that it had started. The output up to then is complete. "
           "Give a larger timeout_seconds, or do less at once.";
}

std::string cancelled(const CommandResult& result) {
    return std::holds_alternative<NotStarted>(result.status)
               ? "The command was cancelled by the user or the host before it started."
               : "The command was cancelled by the user or the host, and ended.";
}

std::string by_cause(const CommandResult& result) {
    switch (result.cause) {
        case Cause::finished:
        case Cause::not_started:
            return finished(result.status);
        case Cause::timed_out:
            return timed_out(result);
        case Cause::cancelled:
            return cancelled(result);
        case Cause::output_limit:
            return "The command wrote more output than is allowed and was ended. "
                   "Write to a file in the workspace, or filter with head, tail or grep.";
        case Cause::lost:
            return "The sandbox went away while the command ran. How far it came is not known: "
                   "look at its effects before you run it again.";
    }
    return "";
}

bool has_kind(const CommandResult& result, DenialKind kind) {
    return std::any_of(result.denials.begin(), result.denials.end(),
                       [&](const Denial& denial) { return !denial.probe && denial.kind == kind; });
}

std::string denials(const CommandResult& result) {
    const std::uint64_t count = count_denials(result);
    if (count == 0) return "";
    std::string text = " The sandbox denied " + std::to_string(count) + (count == 1 ? " act" : " acts") +
                       ": the lines with [sandbox " + result.marker +
                       "] say which, and why. Trying the same again will not help.";
    for (int kind = 0; kind <= static_cast<int>(kLastKind); ++kind)
        if (has_kind(result, static_cast<DenialKind>(kind))) text += advice(static_cast<DenialKind>(kind));
    return text;
}

// What else is true of it, each fact by itself.
std::string also(const CommandResult& result) {
    std::string text;
    if (result.failed && !result.denials_complete)
        text += " There may be denials that this machine cannot report.";
    if (result.limit_hit) text += limit(*result.limit_hit);
    if (result.survivors_ended > 0)
        text += " Background processes that it left were ended: nothing outlives a command.";
    if (result.pipe_held_open) text += " Something kept its output open; what comes later is not here.";
    return text;
}

}  // namespace

std::uint64_t count_denials(const CommandResult& result) noexcept {
    std::uint64_t count = 0;
    for (const Denial& denial : result.denials) count += denial.probe ? 0 : 1 + denial.folded;
    return count;
}

std::string narrate(const CommandResult& result) { return by_cause(result) + denials(result) + also(result); }

std::string narrate(const GateDecision& decision) {
    const Overloaded cases{
        [](const Declined& declined) {
            const std::string start = "The command was not run: it was declined";
            return declined.note.empty() ? start + ". Do not try it again; ask what to do instead."
                                         : start + " with this note: " + declined.note;
        },
        [](const GateTimedOut&) {
            return std::string(
                "The command was not run: nobody approved it in time. Ask before you try again.");
        },
        [](const GateAborted&) { return std::string("The command was not run: the request was withdrawn."); },
        [](const Approved&) { return std::string(); },
    };
    return std::visit(cases, decision);
}

}  // namespace sandpipe::tool
