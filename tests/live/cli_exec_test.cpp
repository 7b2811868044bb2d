#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>

#include "support/process_fixture.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class CliExec : public ProcessFixture {
  protected:
    static std::vector<std::string> line(std::vector<std::string> options, std::vector<std::string> argv) {
        std::vector<std::string> all{SANDPIPE_CLI, "exec"};
        all.insert(all.end(), options.begin(), options.end());
        all.emplace_back("--");
        all.insert(all.end(), argv.begin(), argv.end());
        return all;
    }
    static ProgramResult cli(std::vector<std::string> options, std::vector<std::string> argv,
                             const std::string& input = {}) {
        return run_program(line(std::move(options), std::move(argv)), input);
    }
    static ProgramResult shell(std::vector<std::string> options, const std::string& text) {
        return cli(std::move(options), {"/bin/sh", "-c", text});
    }
    static Json json_of(const ProgramResult& result) {
        EXPECT_THAT(result.out, ::testing::EndsWith("\n"));
        EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
        return Json::parse(result.out);
    }
};

TEST_F(CliExec, PrintsBothStreamsAsTheyAre) {
    const ProgramResult result = shell({}, R"(printf 'o\377\n\n'; printf 'e' >&2)");
    EXPECT_EQ(result.out, "o\377\n\n");
    EXPECT_EQ(result.err, "e");
    EXPECT_EQ(result.status, 0);
}

TEST_F(CliExec, ExitsLikewise) {
    for (const int code : {0, 1, 7, 126, 255}) {
        const ProgramResult result = shell({}, "exit " + std::to_string(code));
        EXPECT_EQ(result.status, code);
        EXPECT_EQ(result.err, "") << "no trailer where the status is the command's own";
    }
    EXPECT_EQ(shell({}, "kill -9 $$").status, 137);
    EXPECT_THAT(shell({}, "kill -11 $$").err, HasSubstr("SIGSEGV"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Frames of sanitizers need more. What every thread has for itself (thread_local) stands on these stacks too.
TEST_F(CliExec, SmallStacksAreEnough) {
    std::vector<std::string> argv{"/bin/sh", "-c", "ulimit -s 64; exec \"$@\"", "sh"};
    for (const std::string& arg : line({}, {"echo", "out"})) argv.push_back(arg);
    const ProgramResult result = run_program(argv);
    EXPECT_EQ(result.out, "out\n");
    EXPECT_EQ(result.status, 0);
}
#endif

TEST_F(CliExec, ItsOwnExitCodes) {
    EXPECT_EQ(cli({"--timeout", "0.2"}, {"sleep", "10"}).status, 124);
    EXPECT_EQ(cli({"--max-output", "10"}, {"yes"}).status, 123);
    EXPECT_EQ(cli({}, {"/no/such/program"}).status, 127);
    EXPECT_EQ(cli({}, {"no-such-program-anywhere"}).status, 127);
    EXPECT_EQ(cli({}, {"/tmp"}).status, 126);
    write_file(scratch() / "plain", "", 0644);
    EXPECT_EQ(cli({}, {(scratch() / "plain").string()}).status, 126);
    EXPECT_EQ(cli({"--stdin", "/no/such/file"}, {"true"}).status, 125);
    EXPECT_EQ(cli({"--no-such-option"}, {"true"}).status, 125);
    EXPECT_EQ(cli({"--timeout", "-1"}, {"true"}).status, 125);
    EXPECT_EQ(run_program({SANDPIPE_CLI, "exec"}).status, 125);
}

TEST_F(CliExec, TheLimitKeepsWhatCameBefore) {
    const ProgramResult result = cli({"--max-output", "10"}, {"yes"});
    EXPECT_EQ(result.out, "y\ny\ny\ny\ny\n");
    EXPECT_THAT(result.err, HasSubstr("output limit"));
    EXPECT_EQ(cli({"--max-output", "10", "--quiet"}, {"yes"}).err, "");
}

TEST_F(CliExec, TimeoutAndKillAfter) {
    const std::string stubborn = "trap '' TERM; while :; do sleep .05; done";
    const ProgramResult result = shell({"--timeout", "0.2", "--kill-after", "0.2"}, stubborn);
    EXPECT_EQ(result.status, 124);
    EXPECT_THAT(result.err, HasSubstr("timed out after 0.2s"));
    // The default is 2 s.
    const Json killed = json_of(shell({"--json", "--timeout", "0.2", "--kill-after", "0.2"}, stubborn));
    EXPECT_EQ(killed["forced"], true);
    EXPECT_GE(killed["duration_ms"], 400);
    EXPECT_LT(killed["duration_ms"], 2200);
}

TEST_F(CliExec, Stdin) {
    EXPECT_EQ(cli({}, {"cat"}, "not for the command").out, "");
    EXPECT_EQ(cli({"--stdin", "-"}, {"cat"}, "for the command").out, "for the command");
    write_file(scratch() / "in", "from a file");
    EXPECT_EQ(cli({"--stdin", (scratch() / "in").string()}, {"cat"}).out, "from a file");
}

TEST_F(CliExec, MergedOutputIsInOrder) {
    const ProgramResult result = shell({"--merged"}, "for i in 1 2 3; do echo o$i; echo e$i >&2; done");
    EXPECT_EQ(result.out, "o1\ne1\no2\ne2\no3\ne3\n");
    EXPECT_EQ(result.err, "");
}

TEST_F(CliExec, Environment) {
    ::setenv("SANDPIPE_TEST_PASSED", "value here", 1);
    const ProgramResult result =
        cli({"--env", "SANDPIPE_TEST_PASSED", "--env", "NEW=a=b", "--env", "NOT_SET_HERE"}, {"env"});
    EXPECT_THAT(result.out, HasSubstr("SANDPIPE_TEST_PASSED=value here\n"));
    EXPECT_THAT(result.out, HasSubstr("NEW=a=b\n"));
    EXPECT_THAT(result.out, ::testing::Not(HasSubstr("NOT_SET_HERE")));
    EXPECT_THAT(cli({}, {"env"}).out, ::testing::Not(HasSubstr("SANDPIPE_TEST_PASSED")));
    ::unsetenv("SANDPIPE_TEST_PASSED");
}

TEST_F(CliExec, JsonIsOneObject) {
    const Json end = json_of(shell({"--json"}, "echo out; echo err >&2; exit 3"));
    EXPECT_EQ(end["exit_code"], 3);
    EXPECT_EQ(end["out"], "out\n");
    EXPECT_EQ(end["err"], "err\n");
    EXPECT_EQ(end["failed"], true);
    EXPECT_EQ(end["status"], "exited");
    EXPECT_EQ(end["code"], 3);
    EXPECT_EQ(end["cause"], "finished");
    EXPECT_EQ(end["signal"], nullptr);
    EXPECT_EQ(end["stdout"]["bytes"], 4);
    EXPECT_EQ(end["start_failure"], nullptr);
    EXPECT_GT(end["max_rss_bytes"], 0);
}

TEST_F(CliExec, JsonOfBytesSignalsAndFailures) {
    const Json bytes = json_of(shell({"--json"}, R"(printf '\377'; kill -9 $$)"));
    EXPECT_EQ(bytes["out_base64"], "/w==");
    EXPECT_EQ(bytes["signal"], "SIGKILL");
    EXPECT_EQ(bytes["code"], -1);
    const Json missing = json_of(cli({"--json"}, {"/no/such"}));
    EXPECT_EQ(missing["status"], "not_started");
    EXPECT_EQ(missing["start_failure"]["stage"], "program");
    EXPECT_EQ(missing["start_failure"]["errno"], "ENOENT");
    EXPECT_EQ(missing["start_failure"]["path"], "/no/such");
    const ProgramResult options = cli({"--json", "--timeout", "x"}, {"true"});
    EXPECT_EQ(options.status, 125);
    EXPECT_EQ(json_of(options)["start_failure"]["stage"], "options");
}

class CliSignal : public CliExec {
  protected:
    /// Starts it and waits until the command says that it is up.
    std::unique_ptr<RunningProgram> up(const std::string& text) {
        auto running = std::make_unique<RunningProgram>(line({"--kill-after", "60"}, {"/bin/sh", "-c", text}));
        EXPECT_EQ(running->read_line(), "up");
        return running;
    }
};

TEST_F(CliSignal, OneSignalStopsPolitely) {
    for (const auto& [signal, status] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
        const auto running = up("trap 'echo cleaned; exit 5' TERM; echo up; while :; do sleep .05; done");
        running->signal(signal);
        const ProgramResult result = running->wait(5s);
        EXPECT_EQ(result.status, status);
        EXPECT_EQ(result.out, "cleaned\n");
    }
}

TEST_F(CliSignal, ASecondOneKillsAtOnce) {
    const auto running = up("trap '' TERM INT; echo up; while :; do sleep .05; done");
    running->signal(SIGINT);
    EXPECT_TRUE(eventually(
        [&] {
            running->signal(SIGINT);
            return !is_alive(running->pid());
        },
        20s)) << "the grace is a minute";
    EXPECT_EQ(running->wait(5s).status, 130);
}

TEST_F(CliSignal, ReachesItWhileItsSettingsDoNotCome) {
    const std::string fifo = (scratch() / "settings").string();
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    RunningProgram running({SANDPIPE_CLI, "run", "--json", "--settings", fifo, "-c", "true"});
    unique_fd writer;
    const auto opened = [&] {
        writer.reset(::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        return bool(writer);
    };
    ASSERT_TRUE(eventually(opened, 10s)) << "nobody reads the settings";
    running.signal(SIGTERM);
    const ProgramResult result = running.wait(10s);
    EXPECT_EQ(result.status, 143);
    EXPECT_EQ(nlohmann::json::parse(result.out)["event"], "end");
}

TEST_F(CliSignal, KilledItLeavesNothing) {
    const auto running = up("setsid sleep 600 & trap '' TERM; echo up; while :; do sleep .05; done");
    running->signal(SIGKILL);
    EXPECT_EQ(running->wait(5s).status, 137);
    EXPECT_TRUE(eventually([this] { return own_commands().empty(); }));
}

TEST_F(CliSignal, AReaderThatGoesAwayEndsTheCommand) {
    const ProgramResult result = run_program(
        {"/bin/sh", "-c", std::string(SANDPIPE_CLI) + " exec -- yes | head -n 1; echo done"}, {}, 10s);
    EXPECT_EQ(result.out, "y\ndone\n");
}

}  // namespace
}  // namespace sandpipe::testing
