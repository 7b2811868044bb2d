#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sandpipe::cli {

/// How much of the library's log goes to stderr.
enum class LogThreshold : std::uint8_t { debug, info, warning, error, off };

/// What `run` and `exec` share.
struct ProcessOptions {
    std::vector<std::string> env;                        ///< NAME or NAME=VALUE, in order
    std::optional<std::chrono::nanoseconds> timeout;     ///< absent: none
    std::optional<std::chrono::nanoseconds> kill_after;  ///< the grace before SIGKILL; 0: SIGKILL at once
    std::optional<std::uint64_t> max_output;             ///< bytes a stream
    std::optional<std::string> input;                    ///< a file; "-": our own stdin; absent: none
    bool merged = false;
    bool json = false;
    bool quiet = false;
    LogThreshold log = LogThreshold::off;
};

/// Additions to a settings file or to the defaults; paths as the user wrote them.
struct PolicyOptions {
    std::optional<std::string> settings;
    std::optional<std::string> srt_settings;  ///< instead of `settings`
    std::optional<std::string> workspace;  ///< absent: the cwd
    std::vector<std::string> allow_write;
    std::vector<std::string> deny_write;
    std::vector<std::string> allow_read;
    std::vector<std::string> deny_read;
    std::vector<std::string> allow_exec;
    std::vector<std::string> allow_domain;
    std::vector<std::string> deny_domain;
};

struct RunOptions {
    ProcessOptions process;
    PolicyOptions policy;
    std::optional<std::string> bin_shell;      ///< absent: the enforcer's default
    bool weaker_nested = false;
    std::optional<std::string> shell_command;  ///< -c; else `argv`
    std::vector<std::string> argv;             ///< not empty without -c
};

struct ExecOptions {
    ProcessOptions process;
    std::vector<std::string> argv;  ///< not empty
};

struct ExplainOptions {
    PolicyOptions policy;
    bool json = false;
    std::string act;                   ///< read, write, exec or connect
    std::vector<std::string> targets;  ///< not empty
};

/// --help and --version: a text for stdout, and nothing to run.
struct ShowText {
    std::string text;
};

using Options = std::variant<RunOptions, ExecOptions, ExplainOptions, ShowText>;

/// `args` without the program's own name. Throws `Error` E_INVALID_SANDBOX_CONFIG for anything that cannot be
/// run as asked, also for what this version does not support yet. Pure.
[[nodiscard]] Options parse_options(const std::vector<std::string>& args);

enum class AnswerKind : std::uint8_t {
    events,        ///< of `run`, one a line; the last is an "end"
    result,        ///< of `exec`, one object
    explanations,  ///< of `explain`, one a line
};

/// Which form the answer to these arguments has, also where `parse_options` refuses them.
struct AnswerForm {
    bool json = false;
    AnswerKind kind = AnswerKind::events;
};
[[nodiscard]] AnswerForm answer_form(const std::vector<std::string>& args);

}  // namespace sandpipe::cli
