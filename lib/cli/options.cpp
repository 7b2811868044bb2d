#include "options.hpp"

#include <sandpipe/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "check_arguments.hpp"
#include "number.hpp"

namespace sandpipe::cli {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

// What the contract of the command line names and this version does not do.
constexpr std::array<std::string_view, 2> kUnsupportedCommands{"doctor", "mcp"};

// As text, so that a refusal can name it and says the same for every kind of number.
struct NumberTexts {
    std::string timeout;
    std::string kill_after;
    std::string max_output;
    std::string log = "off";
};

void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& list,
              const std::string& help) {
    // One value each time; a value may look like an option or a list of CLI11's.
    app.add_option(name, list, help)->allow_extra_args(false)->type_name("");
}

// The help names the value, in capitals.
template <typename Value>
void add_value(CLI::App& app, const std::string& name, Value& value, const std::string& help) {
    app.add_option(name, value, help)->type_name("");
}

/// A flag has no value, so "--json=0" is a mistake; "--json=true" is what CLI11 takes for "--json".
void add_flag(CLI::App& app, const std::string& name, bool& flag, const std::string& help) {
    app.add_flag(name, flag, help)->disable_flag_override();
}

void add_process_options(CLI::App& app, ProcessOptions& options, NumberTexts& numbers) {
    add_list(app, "--env", options.env, "NAME (the value it has here) or NAME=VALUE; may stand often");
    add_value(app, "--timeout", numbers.timeout, "SECONDS until the command is ended; default: never");
    add_value(app, "--kill-after", numbers.kill_after,
              "SECONDS from SIGTERM to SIGKILL; default: 2; 0: no SIGTERM");
    add_value(app, "--max-output", numbers.max_output, "BYTES of a stream that end the command when passed");
    add_value(app, "--stdin", options.input, "FILE for the command's stdin; -: ours; default: none");
    add_flag(app, "--merged", options.merged, "One pipe for stdout and stderr: exact order, no tags");
    add_flag(app, "--json", options.json, "Events as JSON, one object a line");
    add_flag(app, "--quiet", options.quiet, "No denials and no trailers on stderr");
    add_value(app, "--log", numbers.log,
              "LEVEL of the library's log on stderr: debug, info, warning, error, off");
}

void add_policy_options(CLI::App& app, PolicyOptions& options) {
    add_value(app, "--settings", options.settings, "FILE with the policy as JSON");
    add_value(app, "--srt-settings", options.srt_settings, "FILE as of @anthropic-ai/sandbox-runtime, instead");
    add_value(app, "--workspace", options.workspace, "DIR for relative paths and the cwd; default: the cwd");
    add_list(app, "--allow-write", options.allow_write,
             "PATH that may be written; this and the next may stand often");
    add_list(app, "--deny-write", options.deny_write, "PATH that may not be written");
    add_list(app, "--allow-read", options.allow_read, "PATH that may be read in spite of a denied one above");
    add_list(app, "--deny-read", options.deny_read, "PATH that may not be read");
    add_list(app, "--allow-exec", options.allow_exec, "PATH that may be executed; then nothing else but the shell may");
    add_list(app, "--allow-domain", options.allow_domain, "DOMAIN[:PORT] that may be reached");
    add_list(app, "--deny-domain", options.deny_domain, "DOMAIN[:PORT] that may not be reached");
}

LogThreshold parse_log(const std::string& text) {
    constexpr std::array<std::pair<std::string_view, LogThreshold>, 5> kLevels{{
        {"debug", LogThreshold::debug},
        {"info", LogThreshold::info},
        {"warning", LogThreshold::warning},
        {"error", LogThreshold::error},
        {"off", LogThreshold::off},
    }};
    for (const auto& [name, level] : kLevels) {
        if (name == text) return level;
    }
    refuse("--log must be debug, info, warning, error or off, not \"" + text + "\"");
}

void check_env(const std::vector<std::string>& entries) {
    for (const std::string& entry : entries) {
        if (entry.empty() || entry.front() == '=')
            refuse("--env needs NAME or NAME=VALUE, not \"" + entry + "\"");
    }
}

void finish(ProcessOptions& options, const CLI::App& app, const NumberTexts& numbers) {
    const auto given = [&app](const char* name) { return app.count(name) > 0; };
    if (given("--timeout")) options.timeout = parse_seconds("--timeout", numbers.timeout, Zero::refused);
    if (given("--kill-after"))
        options.kill_after = parse_seconds("--kill-after", numbers.kill_after, Zero::allowed);
    if (given("--max-output")) options.max_output = parse_bytes("--max-output", numbers.max_output);
    options.log = parse_log(numbers.log);
    check_env(options.env);
}

void check_not_empty(const CLI::App& app) {
    constexpr std::array kNames{"--settings",    "--srt-settings", "--workspace", "--allow-write",
                                "--deny-write",  "--allow-read",   "--deny-read", "--allow-exec",
                                "--bin-shell",   "--allow-domain", "--deny-domain"};
    for (const char* name : kNames) {
        const CLI::Option* option = app.get_option_no_throw(name);
        if (!option) continue;
        const std::vector<std::string> values = option->results();
        // An unset variable of a script must not turn into "no rule" or "the cwd".
        if (std::find(values.begin(), values.end(), "") != values.end())
            refuse(std::string(name) + " is empty");
    }
    if (app.count("--settings") > 0 && app.count("--srt-settings") > 0)
        refuse("--settings and --srt-settings exclude each other");
}

// The arguments of one command, split at the first "--".
struct Split {
    std::vector<std::string> options;
    std::vector<std::string> argv;
    bool marked = false;  ///< there was a "--"
};

template <typename Iterator>
Split split(Iterator begin, Iterator end) {
    const Iterator mark = std::find(begin, end, "--");
    Split parts{{begin, mark}, {}, mark != end};
    if (parts.marked) parts.argv.assign(mark + 1, end);
    return parts;
}

void add_run_options(CLI::App& app, RunOptions& run, NumberTexts& numbers) {
    add_value(app, "-c", run.shell_command, "LINE for the shell");
    add_policy_options(app, run.policy);
    add_process_options(app, run.process, numbers);
    add_value(app, "--bin-shell", run.bin_shell, "PATH of the shell for -c; default: /bin/bash");
    add_flag(app, "--weaker-nested", run.weaker_nested,
             "Go on without what only this machine refuses, each by name; never with the network, denied reads or"
                 " processes that outlive their command");
}

void parse(CLI::App& app, std::vector<std::string> options, bool takes_words = false) {
    CLI::App all;
    RunOptions unused;
    NumberTexts numbers;
    add_run_options(all, unused, numbers);
    check_arguments(app, all, options, takes_words);
    std::reverse(options.begin(), options.end());  // the order in which CLI11 takes a vector
    try {
        app.parse(std::move(options));
    } catch (const CLI::CallForHelp&) {
        throw;
    } catch (const CLI::ParseError& error) {
        refuse(error.what());
    }
}

void check_program(const std::vector<std::string>& argv, const std::string& form) {
    if (argv.empty()) refuse("no command was given: " + form);
    if (argv.front().empty()) refuse("the program's name is empty");
}

Options parse_run(Split parts) {
    CLI::App app{
        "Runs a command in a sandbox:\n"
        "  sandpipe run [OPTIONS] -c 'SHELL COMMAND'\n"
        "  sandpipe run [OPTIONS] -- PROGRAM [ARG...]",
        "sandpipe run"};
    RunOptions run;
    NumberTexts numbers;
    add_run_options(app, run, numbers);
    try {
        parse(app, std::move(parts.options));
    } catch (const CLI::CallForHelp&) {
        return ShowText{app.help()};
    }
    finish(run.process, app, numbers);
    check_not_empty(app);
    if (run.shell_command && parts.marked) refuse("-c and -- PROGRAM exclude each other");
    if (!run.shell_command) check_program(parts.argv, "use -c 'SHELL COMMAND' or -- PROGRAM [ARG...]");
    run.argv = std::move(parts.argv);
    return run;
}

Options parse_exec(Split parts) {
    CLI::App app{
        "Runs a program without a sandbox:\n"
        "  sandpipe exec [OPTIONS] -- PROGRAM [ARG...]",
        "sandpipe exec"};
    app.footer(
        "With --json the output is held in memory, 10 MiB a stream unless --max-output says otherwise.\n"
        "What the program leaves running ends with sandpipe itself.");
    ExecOptions exec;
    NumberTexts numbers;
    add_process_options(app, exec.process, numbers);
    try {
        parse(app, std::move(parts.options));
    } catch (const CLI::CallForHelp&) {
        return ShowText{app.help()};
    }
    finish(exec.process, app, numbers);
    check_program(parts.argv, "use -- PROGRAM [ARG...]");
    exec.argv = std::move(parts.argv);
    return exec;
}

Options parse_explain(Split parts) {
    CLI::App app{
        "Says what a sandbox would allow, without starting anything:\n"
        "  sandpipe explain [OPTIONS] read|write|exec|connect TARGET...",
        "sandpipe explain"};
    ExplainOptions explain;
    // No option of CLI11's, which would take apart a word in brackets: [::1], or a glob.
    app.allow_extras();
    add_policy_options(app, explain.policy);
    add_flag(app, "--json", explain.json, "Answers as JSON, one object a line");
    try {
        parse(app, std::move(parts.options), true);
    } catch (const CLI::CallForHelp&) {
        return ShowText{app.help()};
    }
    check_not_empty(app);
    std::vector<std::string> words = app.remaining();
    words.insert(words.end(), parts.argv.begin(), parts.argv.end());
    if (words.empty()) refuse("explain needs an act: read, write, exec or connect");
    explain.act = words.front();
    explain.targets.assign(words.begin() + 1, words.end());
    constexpr std::array<std::string_view, 4> kActs{"read", "write", "exec", "connect"};
    if (std::find(kActs.begin(), kActs.end(), explain.act) == kActs.end())
        refuse("\"" + explain.act + "\" is no act; accepted: read, write, exec, connect");
    if (explain.targets.empty()) refuse("explain " + explain.act + " needs a TARGET");
    return explain;
}

constexpr std::string_view kUsage =
    "Usage: sandpipe run [OPTIONS] -c 'SHELL COMMAND'       in a sandbox, by the shell\n"
    "       sandpipe run [OPTIONS] -- PROGRAM [ARG...]      in a sandbox, without a shell\n"
    "       sandpipe exec [OPTIONS] -- PROGRAM [ARG...]     without a sandbox\n"
    "       sandpipe explain [OPTIONS] read|write|exec|connect TARGET...\n"
    "       sandpipe run --help | exec --help | explain --help | --version\n";

}  // namespace

Options parse_options(const std::vector<std::string>& args) {
    if (args.empty()) refuse("a command is missing: run, exec or explain; see sandpipe --help");
    const std::string& name = args.front();
    if (name == "--help" || name == "-h") return ShowText{std::string(kUsage)};
    if (name == "--version") return ShowText{"sandpipe " SANDPIPE_VERSION "\n"};
    if (name == "run") return parse_run(split(args.begin() + 1, args.end()));
    if (name == "exec") return parse_exec(split(args.begin() + 1, args.end()));
    if (name == "explain") return parse_explain(split(args.begin() + 1, args.end()));
    if (std::find(kUnsupportedCommands.begin(), kUnsupportedCommands.end(), name) !=
        kUnsupportedCommands.end()) {
        refuse("sandpipe " + name + " is not supported yet");
    }
    refuse("\"" + name + "\" is no command of sandpipe; there are run, exec and explain; see sandpipe --help");
}

AnswerForm answer_form(const std::vector<std::string>& args) {
    const auto end = std::find(args.begin(), args.end(), "--");
    const bool json = std::any_of(args.begin(), end, [](const std::string& arg) {
        // Whoever gave it a value wanted it, but for these.
        return arg == "--json" || (arg.starts_with("--json=") && arg != "--json=false" && arg != "--json=0");
    });
    AnswerForm form;
    form.json = json;
    if (!args.empty() && args.front() == "exec") form.kind = AnswerKind::result;
    if (!args.empty() && args.front() == "explain") form.kind = AnswerKind::explanations;
    return form;
}

}  // namespace sandpipe::cli
