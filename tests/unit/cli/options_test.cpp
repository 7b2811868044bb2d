#include "cli/options.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sandpipe::cli {
namespace {

using namespace std::chrono_literals;
using Args = std::vector<std::string>;

RunOptions run(const Args& args) { return std::get<RunOptions>(parse_options(args)); }

std::string refused(const Args& args) {
    try {
        static_cast<void>(parse_options(args));
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        return error.text();
    }
    return "accepted";
}

TEST(Options, RunTakesAShellCommandAsItIs) {
    for (const std::string line : {"echo hi", "", "--json", "[ -f x ]", "-n", "a,b", "\"quoted\""}) {
        EXPECT_EQ(run({"run", "-c", line}).shell_command, line);
    }
}

TEST(Options, WhatStandsAfterTheDashesIsTheProgram) {
    const RunOptions options = run({"run", "--quiet", "--", "prog", "--json", "--", "", "-c"});
    EXPECT_EQ(options.argv, (Args{"prog", "--json", "--", "", "-c"}));
    EXPECT_FALSE(options.shell_command);
    EXPECT_FALSE(options.process.json);
    EXPECT_TRUE(options.process.quiet);
}

TEST(Options, DefaultsAreAbsent) {
    const RunOptions options = run({"run", "--", "x"});
    EXPECT_FALSE(options.process.timeout);
    EXPECT_FALSE(options.process.kill_after);
    EXPECT_FALSE(options.process.max_output);
    EXPECT_FALSE(options.process.input);
    EXPECT_EQ(options.process.log, LogThreshold::off);
    EXPECT_FALSE(options.policy.settings);
    EXPECT_FALSE(options.policy.workspace);
    EXPECT_FALSE(options.bin_shell);
}

TEST(Options, EveryProcessOption) {
    const Args args{"exec",         "--env",   "A",       "--env", "B=x=y",        "--timeout", "0.25",
                    "--kill-after", "0",       "--stdin", "-",     "--max-output", "100",       "--merged",
                    "--json",       "--quiet", "--log",   "debug", "--",           "prog"};
    const auto exec = std::get<ExecOptions>(parse_options(args));
    EXPECT_EQ(exec.process.env, (Args{"A", "B=x=y"}));
    EXPECT_EQ(exec.process.timeout, 250ms);
    EXPECT_EQ(exec.process.kill_after, 0ns);
    EXPECT_EQ(exec.process.max_output, 100U);
    EXPECT_EQ(exec.process.input, "-");
    EXPECT_TRUE(exec.process.merged && exec.process.json && exec.process.quiet);
    EXPECT_EQ(exec.process.log, LogThreshold::debug);
    EXPECT_EQ(exec.argv, Args{"prog"});
}

TEST(Options, EveryPolicyOption) {
    const RunOptions options = run({"run", "--settings", "s.json", "--workspace", "/w", "--allow-write", "a",
                                    "--allow-write", "[b,c]", "--deny-write=-d", "--allow-read", "e",
                                    "--deny-read", "f", "--allow-domain", "a.b:1", "--deny-domain", "*", "--bin-shell",
                                    "/bin/sh", "-c", "x"});
    EXPECT_EQ(options.policy.settings, "s.json");
    EXPECT_EQ(options.policy.workspace, "/w");
    EXPECT_EQ(options.policy.allow_write, (Args{"a", "[b,c]"}));
    EXPECT_EQ(options.policy.deny_write, Args{"-d"});
    EXPECT_EQ(options.policy.allow_read, Args{"e"});
    EXPECT_EQ(options.policy.deny_read, Args{"f"});
    EXPECT_EQ(options.policy.allow_domain, Args{"a.b:1"});
    EXPECT_EQ(options.policy.deny_domain, Args{"*"});
    EXPECT_EQ(options.bin_shell, "/bin/sh");
}

TEST(Options, BadNumbersAreNamed) {
    for (const std::string text : {"0", "-1", "abc", "", "5s", "inf", "nan", "1e10", "1e-12", "-0", " 1"}) {
        const std::string answer = refused({"run", "--timeout", text, "--", "x"});
        EXPECT_EQ(answer.find("--timeout must be a positive number"), 0U) << text << ": " << answer;
        EXPECT_NE(answer.find("not \"" + text + "\""), std::string::npos) << answer;
    }
    for (const std::string text : {"-1", "x"}) {
        EXPECT_EQ(refused({"exec", "--kill-after", text, "--", "x"}).find("--kill-after must be"), 0U);
    }
    for (const std::string text : {"0", "-5", "1.5", "10k", "99999999999999999999"}) {
        EXPECT_EQ(refused({"exec", "--max-output", text, "--", "x"}).find("--max-output must be"), 0U);
    }
    EXPECT_EQ(refused({"exec", "--log", "loud", "--", "x"}).find("--log must be"), 0U);
}

TEST(Options, ABadVariableIsNamed) {
    EXPECT_NE(refused({"run", "--env", "=x", "--", "p"}).find("\"=x\""), std::string::npos);
    EXPECT_NE(refused({"run", "--env", "", "--", "p"}).find("--env needs"), std::string::npos);
}

TEST(Options, AnEmptyPathIsNoRule) {
    for (const std::string name :
         {"--settings", "--workspace", "--allow-write", "--deny-read", "--bin-shell", "--allow-domain"}) {
        EXPECT_EQ(refused({"run", name, "", "--", "p"}), name + " is empty");
    }
}

TEST(Options, ExactlyOneThingToRun) {
    EXPECT_NE(refused({"run"}).find("no command"), std::string::npos);
    EXPECT_NE(refused({"run", "--"}).find("no command"), std::string::npos);
    EXPECT_NE(refused({"exec", "--json", "--"}).find("no command"), std::string::npos);
    EXPECT_NE(refused({"run", "-c", "x", "--", "y"}).find("exclude"), std::string::npos);
    EXPECT_NE(refused({"run", "prog"}).find("after --"), std::string::npos);
    EXPECT_NE(refused({"run", "--", ""}).find("empty"), std::string::npos);
    EXPECT_NE(refused({"exec", "-c", "x"}), "accepted");
    EXPECT_NE(refused({"exec", "--allow-write", "x", "--", "y"}), "accepted");
    EXPECT_NE(refused({"run", "--timeout"}), "accepted");
    EXPECT_NE(refused({"run", "-c"}), "accepted");
    EXPECT_NE(refused({"run", "--bogus", "--", "x"}), "accepted");
    EXPECT_NE(refused({"run", "--timeout", "1", "--timeout", "2", "--", "x"}), "accepted");
}

TEST(Options, RefusalsNameTheValueAndTheRemedy) {
    struct Case {
        Args args;
        const char* text;
    };
    for (const Case& each : {
             Case{{"run", "--timeout", "5", "--timeout", "6", "--", "x"}, "--timeout stands twice; keep one"},
             Case{{"exec", "--timeout"}, "--timeout needs a value: SECONDS"},
             Case{{"run", "-c"}, "-c needs a value: LINE"},
             Case{{"run", "--json=1", "-c", "x"}, "--json takes no value, and not \"1\""},
             Case{{"explain", "--bogus", "read", "x"}, "is no option of sandpipe explain; see sandpipe explain --help"},
             Case{{"exec", "--allow-write", ".", "--", "x"}, "--allow-write is no option of sandpipe exec; sandpipe run has"},
             Case{{"run", "--allow-writ", ".", "-c", "x"}, "; the nearest is --allow-write; see sandpipe run --help"},
             Case{{"run", "-c", "echo a", "echo", "b"}, "\"echo\" is no option of sandpipe run; a program and its"},
             Case{{"runn"}, "\"runn\" is no command of sandpipe; there are run, exec and explain; see sandpipe --help"},
             Case{{"exec", "true"}, "\"true\" is no option of sandpipe exec; a program and its arguments"},
         })
        EXPECT_NE(refused(each.args).find(each.text), std::string::npos) << refused(each.args);
}

TEST(Options, AValueMayLookLikeAnOption) {
    EXPECT_EQ(run({"run", "--allow-read", "--json", "-c", "--timeout"}).policy.allow_read, Args{"--json"});
    EXPECT_EQ(run({"run", "-cecho", "--deny-read=--deny-read"}).shell_command, "echo");
}

TEST(Options, WhatIsNotSupportedYetSaysSo) {
    for (const std::string name : {"doctor", "mcp"}) {
        EXPECT_EQ(refused({name, "--json"}), "sandpipe " + name + " is not supported yet");
    }
}

TEST(Options, CommandsAreKnown) {
    EXPECT_NE(refused({}).find("missing"), std::string::npos);
    EXPECT_NE(refused({"rum"}).find("\"rum\""), std::string::npos);
}

TEST(Options, HelpAndVersionAreTexts) {
    for (const Args& args : {Args{"--help"}, Args{"--version"}, Args{"run", "--help"}, Args{"exec", "-h"}}) {
        EXPECT_FALSE(std::get<ShowText>(parse_options(args)).text.empty());
    }
    EXPECT_NE(std::get<ShowText>(parse_options({"run", "--help"})).text.find("--weaker-nested"), std::string::npos);
}

TEST(Options, AWeakerSandboxIsAskedForByName) {
    EXPECT_TRUE(std::get<RunOptions>(parse_options({"run", "--weaker-nested", "--", "p"})).weaker_nested);
    EXPECT_FALSE(std::get<RunOptions>(parse_options({"run", "--", "p", "--weaker-nested"})).weaker_nested);
    EXPECT_NE(refused({"exec", "--weaker-nested", "--", "p"}), "accepted");
}

TEST(Options, AFlagHasNoValue) {
    for (const char* flag : {"--json", "--quiet", "--merged", "--weaker-nested"})
        for (const char* value : {"=5", "=0", "=false", "=yes"})
            EXPECT_NE(refused({"run", std::string(flag) + value, "--", "p"}), "accepted") << flag << value;
    EXPECT_NE(refused({"explain", "--json=1", "read", "x"}), "accepted");
    EXPECT_NE(refused({"exec", "--json=1", "--", "p"}), "accepted");
}

TEST(Options, TheFormOfTheAnswerIsKnownBeforeTheOptionsAre) {
    EXPECT_TRUE(answer_form({"run", "--bogus", "--json", "--", "x"}).json);
    EXPECT_FALSE(answer_form({"run", "--", "x", "--json"}).json);
    EXPECT_EQ(answer_form({"exec", "--json"}).kind, AnswerKind::result);
    EXPECT_EQ(answer_form({"run", "--json"}).kind, AnswerKind::events);
    // What CLI11 takes for the same.
    EXPECT_TRUE(answer_form({"run", "--json=true"}).json && run({"run", "--json=true", "--", "p"}).process.json);
    // A mistake of somebody who wants JSON.
    EXPECT_TRUE(answer_form({"run", "--json=1"}).json);
    EXPECT_FALSE(answer_form({"run", "--json=false"}).json);
    EXPECT_FALSE(answer_form({}).json);
}

TEST(Explain, ActAndTargets) {
    const auto explain = std::get<ExplainOptions>(
        parse_options({"explain", "--deny-read", "x", "read", "a", "--json", "b", "--", "--c"}));
    EXPECT_EQ(explain.act, "read");
    EXPECT_EQ(explain.targets, (std::vector<std::string>{"a", "b", "--c"}));
    EXPECT_TRUE(explain.json);
    EXPECT_EQ(explain.policy.deny_read, std::vector<std::string>{"x"});
    const std::vector<std::string> bracketed{"[::1]", "[a,b]", "[]", "a[1]"};
    const auto words = std::get<ExplainOptions>(
        parse_options({"explain", "connect", "[::1]", "[a,b]", "--deny-read", "[x]", "[]", "a[1]"}));
    EXPECT_EQ(words.targets, bracketed);
    EXPECT_EQ(words.policy.deny_read, std::vector<std::string>{"[x]"});
    EXPECT_NE(refused({"explain"}).find("needs an act"), std::string::npos);
    EXPECT_NE(refused({"explain", "read"}).find("needs a TARGET"), std::string::npos);
    EXPECT_NE(refused({"explain", "chmod", "x"}).find("\"chmod\" is no act"), std::string::npos);
    EXPECT_TRUE(answer_form({"explain", "--json"}).json);
    EXPECT_EQ(answer_form({"explain", "--json"}).kind, AnswerKind::explanations);
}

TEST(Policy, ExecutionAndForeignSettings) {
    const auto run = std::get<RunOptions>(parse_options(
        {"run", "--allow-exec", "/bin/ls", "--allow-exec", "x", "--srt-settings", "f", "--", "p"}));
    EXPECT_EQ(run.policy.allow_exec, (std::vector<std::string>{"/bin/ls", "x"}));
    EXPECT_EQ(run.policy.srt_settings, "f");
    EXPECT_NE(refused({"run", "--srt-settings", "f", "--settings", "g", "--", "p"}).find("exclude"),
              std::string::npos);
    EXPECT_EQ(refused({"run", "--allow-exec", "", "--", "p"}), "--allow-exec is empty");
}

}  // namespace
}  // namespace sandpipe::cli
