#include <sandpipe/error.hpp>

#include <asio/error.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "json_lines.hpp"
#include "output.hpp"
#include "process/exit_status.hpp"

namespace sandpipe::cli {
namespace {

using Args = std::vector<std::string>;

// The answer where no command ever ran: with --json a line of its form, else a sentence.
std::string refusal_text(const AnswerForm& form, const CommandResult& result, const std::string& sentence) {
    if (!form.json) return "sandpipe: " + sentence + "\n";
    if (form.kind == AnswerKind::explanations) return refusal_line(result);
    if (form.kind == AnswerKind::events) {
        Finished end;
        end.result = result;
        return event_line(end);
    }
    BinaryExecResult settled;
    static_cast<CommandFacts&>(settled) = result;
    return result_object(settled);
}

Ending refuse(const AnswerForm& form, const CommandResult& result, const std::string& sentence, int signal) {
    const int fd = form.json ? STDOUT_FILENO : STDERR_FILENO;
    const std::error_code error = write_fully(fd, refusal_text(form, result, sentence), nullptr);
    return error ? broken_output(error, signal) : Ending{detail::exit_status(result, signal)};
}

Ending refuse(const AnswerForm& form, const Error& error) {
    return refuse(form, refusal(error), error.what(), 0);
}

awaitable<Ending> work(Host& host, const Options& options) {
    if (const auto* run = std::get_if<RunOptions>(&options)) return run_command(host, *run);
    return exec_command(host, std::get<ExecOptions>(options));
}

LogThreshold log_threshold(const Options& options) {
    if (const auto* run = std::get_if<RunOptions>(&options)) return run->process.log;
    return std::get<ExecOptions>(options).process.log;
}

// Whatever the command's own stream could not tell.
Ending answered(Host& host, const Options& options, const AnswerForm& form) {
    try {
        return host.drive(work(host, options));
    } catch (const Error& error) {
        return refuse(form, error);
    } catch (const std::system_error& error) {
        const int signal = host.interrupts().first();
        if (error.code() != asio::error::operation_aborted || signal == 0) throw;
        return refuse(form, cancelled_start(), "cancelled by " + signal_name(signal) + " before the start",
                      signal);
    }
}

Ending show(const ShowText& text) {
    const std::error_code error = write_fully(STDOUT_FILENO, text.text, nullptr);
    return error ? broken_output(error, 0) : Ending{0};
}

// The end line is out, so what goes wrong now is told on stderr and by the status alone.
Ending closed(Host& host, Ending ending) {
    try {
        host.close();
    } catch (const std::exception& error) {
        const std::string text = "sandpipe: " + std::string(error.what()) + "\n";
        const std::error_code unwritten = write_fully(STDERR_FILENO, text, nullptr);
        if (ending.status == 0 || unwritten) ending.status = detail::kStatusRefused;
    }
    return ending;
}

Ending run(const Args& args, const AnswerForm& form) {
    const Options options = parse_options(args);
    const bool starts_something =
        std::holds_alternative<RunOptions>(options) || std::holds_alternative<ExecOptions>(options);
    if (!starts_something) let_interrupts_through();
    if (const auto* text = std::get_if<ShowText>(&options)) return show(*text);
    if (const auto* explain = std::get_if<ExplainOptions>(&options)) return explain_command(*explain);
    Host host(log_threshold(options));
    const Ending ending = answered(host, options, form);
    return closed(host, ending);
}

Ending run_or_refuse(const Args& args) {
    const AnswerForm form = answer_form(args);
    try {
        return run(args, form);
    } catch (const Error& error) {
        return refuse(form, error);
    } catch (const std::system_error& error) {
        const CommandResult result = refusal(error);
        return refuse(form, result, std::get<NotStarted>(result.status).hint, 0);
    } catch (const std::exception& error) {
        return refuse(form, Error(Errc::sandbox_failed, error.what()));
    }
}

/// In a container pid 1 may be a program that reaps nothing: what the helper leaves, and it itself, are reaped here.
class OwnReaper {
  public:
    OwnReaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
    OwnReaper(const OwnReaper&) = delete;
    OwnReaper& operator=(const OwnReaper&) = delete;
    ~OwnReaper() {
        while (::waitpid(-1, nullptr, WNOHANG | __WALL) > 0) continue;
    }
};

}  // namespace
}  // namespace sandpipe::cli

int main(int argc, char** argv) {
    using namespace sandpipe::cli;
    hold_interrupts();
    const OwnReaper reaper;
    reserve_standard_descriptors();
    const auto old_sigpipe = std::signal(SIGPIPE, SIG_IGN);
    const Ending ending = run_or_refuse(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    if (ending.broken_pipe) {
        std::signal(SIGPIPE, old_sigpipe);
        std::raise(SIGPIPE);
    }
    return ending.status;
}
