#include "narrator.hpp"

#include <csignal>
#include <variant>

namespace sandpipe::tool {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// A remedy in the model's reach, where there is one.
std::string advice(const NotStarted& start) {
    switch (start.stage) {
        case Stage::cwd:
            return " Give a cwd that exists in the workspace.";
        case Stage::program:
        case Stage::interpreter:
        case Stage::permission:
            return " The session's shell cannot be started; a different command will not help.";
        case Stage::arguments:
            return " The command is too long: write it to a file in the workspace and run that.";
        case Stage::queue:
        case Stage::resources:
            return " The machine is busy: try again later.";
        case Stage::options:
            return " Correct the input.";
        case Stage::wrap:
        case Stage::launcher:
        case Stage::input:
        case Stage::output:
        case Stage::namespaces:
        case Stage::mounts:
        case Stage::capabilities:
        case Stage::landlock:
        case Stage::seccomp:
        case Stage::network:
            return " The sandbox could not be set up here; a different command will not help.";
    }
    return "";
}

std::string not_started(const NotStarted& start) {
    std::string text = "The command was not started: " + std::string(to_string(start.stage));
    if (!start.path.empty()) text += " " + start.path;
    if (start.error) text += ": " + start.error.message();
    return start.hint.empty() ? text + "." + advice(start) : text + "; " + start.hint + ".";
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

std::string finished(const EndStatus& status) {
    const Overloaded cases{
        [](const Exited& exited) {
            return "The command finished with exit code " + std::to_string(exited.code) + ".";
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

std::string by_cause(const CommandResult& result) {
    switch (result.cause) {
        case Cause::finished:
        case Cause::not_started:
            return finished(result.status);
        case Cause::timed_out:
            return timed_out(result);
        case Cause::cancelled:
            return "The command was cancelled by the user or the host, and ended.";
        case Cause::output_limit:
            return "The command wrote more output than is allowed and was ended. "
                   "Write to a file in the workspace, or filter with head, tail or grep.";
        case Cause::lost:
            return "The sandbox went away while the command ran. How far it came is not known: "
                   "look at its effects before you run it again.";
    }
    return "";
}

std::size_t shown_denials(const CommandResult& result) {
    std::size_t count = 0;
    for (const Denial& denial : result.denials) count += denial.probe ? 0 : 1;
    return count;
}

std::string denials(const CommandResult& result) {
    const std::size_t count = shown_denials(result);
    std::string text;
    if (count > 0) {
        text = " The sandbox denied " + std::to_string(count) + (count == 1 ? " act" : " acts") +
               ": the lines with [sandbox " + result.marker +
               "] say which, and which places are allowed. Trying the same again will not help.";
    }
    if (result.failed && !result.denials_complete)
        text += " There may be denials that this machine cannot report.";
    return text;
}

}  // namespace

std::string narrate(const CommandResult& result) {
    std::string text = by_cause(result) + denials(result);
    if (result.limit_hit) text += " It reached its resource limit: " + *result.limit_hit + ".";
    if (result.survivors_ended > 0)
        text += " Background processes that it left were ended: nothing outlives a command.";
    return text;
}

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
