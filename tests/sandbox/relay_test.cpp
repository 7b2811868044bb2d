#include <gmock/gmock.h>

#include <sandpipe/local_executor.hpp>
#include <sandpipe/sandboxed_executor.hpp>
#include <sandpipe/shell.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <fstream>

#include "support/as_user.hpp"
#include "support/executor_fixture.hpp"
#include "support/host_snapshot.hpp"
#include "support/process_tree.hpp"
#include "support/run_program.hpp"
#include "support/spawning_executor.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Commands that are started by others than the library.
class Relay : public SessionTest {
  protected:
    /// Wrapped, and as the argv that anybody may start.
    std::vector<std::string> wrapped(const BinaryInvocation& invocation) {
        return argv_of(await(sandbox_->wrap(invocation)));
    }
    std::vector<std::string> wrapped_line(const std::string& line) { return wrapped(sandbox_->shell(line)); }
};

/// A wrapped command, its relay, and a process of the command to look for from outside.
const char* const kSleeper = "trap 'echo got USR1' USR1; sleep @ & sleep @ & echo up; wait; wait; wait";

std::string sleeper(const std::string& seconds) {
    std::string line = kSleeper;
    for (std::size_t at; (at = line.find('@')) != line.npos;) line.replace(at, 1, seconds);
    return line;
}

/// Those that have it in their command line, once there are as many; what there is after 20 s.
std::vector<pid_t> await_processes(const std::string& seconds, std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    std::vector<pid_t> found;
    while ((found = processes_with(seconds)).size() < count && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    return found;
}

bool all_gone(const std::string& seconds) { return all_end_within(processes_with(seconds), 5s); }

TEST_F(Relay, AnExecutorOfOnesOwnRunsWrappedCommands) {
    SandboxedExecutorOptions options;
    options.inner = std::make_shared<SpawningExecutor>();
    options.sandbox = sandbox_;
    const auto executor = sandboxed_executor(options);
    BinaryExecResult result =
        await(executor->exec(sandbox_->shell("echo out; echo err >&2; pwd; echo x > /etc/x; exit 7")));
    EXPECT_EQ(result.out, "out\n" + workspace() + "\n");
    EXPECT_THAT(result.err, HasSubstr("err\n"));
    EXPECT_THAT(result.err, HasSubstr("/etc/x: Read-only file system"));
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_EQ(result.cause, Cause::finished);
    result = await(executor->exec(sandbox_->shell("kill -9 $$")));
    ASSERT_TRUE(std::holds_alternative<Signaled>(result.status));
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGKILL);
    result = await(executor->exec(sandbox_->shell("ulimit -c unlimited; kill -SEGV $$")));
    ASSERT_TRUE(std::holds_alternative<Signaled>(result.status));
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGSEGV);
    EXPECT_FALSE(std::get<Signaled>(result.status).core_dumped) << "the relay left a core of its own";
}

TEST_F(Relay, EnvironmentAndCwdAreTheInvocationsAndNotTheRelays) {
    SpawningExecutor executor;
    const std::string inner = workspace() + "/inner";
    ASSERT_EQ(::mkdir(inner.c_str(), 0755), 0);
    BinaryInvocation invocation = command("sh").args("-c", "pwd; echo $WANTED; env").cwd("inner");
    invocation.env(Environment::empty().set("WANTED", "yes"));
    const auto wrapped = await(sandbox_->wrap(invocation));
    const BinaryExecResult result = await(executor.exec(wrapped));
    EXPECT_THAT(result.out, ::testing::StartsWith(inner + "\nyes\n"));
    EXPECT_THAT(result.out, HasSubstr("TMPDIR=/tmp\n"));
    EXPECT_THAT(result.out, ::testing::Not(HasSubstr("ODD")));
    // A place that only the sandbox has.
    const auto made = await(sandbox_->wrap(command("mkdir").args("/tmp/own")));
    EXPECT_EQ(await(executor.exec(made)).err, "");
    const auto there = await(sandbox_->wrap(command("pwd").cwd("/tmp/own")));
    EXPECT_EQ(await(executor.exec(there)).out, "/tmp/own\n");
}

TEST_F(Relay, PythonSubprocess) {
    const std::string script =
        "import subprocess, sys\n"
        "r = subprocess.run(sys.argv[1:], input=b'through', capture_output=True, cwd='/', env={})\n"
        "print(r.returncode, r.stdout, r.stderr)\n";
    auto run = [&](const std::string& line) {
        std::vector<std::string> argv{"/usr/bin/python3", "-I", "-S", "-c", script};
        for (std::string& word : wrapped_line(line)) argv.push_back(std::move(word));
        return run_program(argv);
    };
    EXPECT_EQ(run("cat; echo e >&2; exit 3").out, "3 b'through' b'e\\n'\n");
    EXPECT_EQ(run("kill -TERM $$").out, "-15 b'' b''\n");
    EXPECT_EQ(run("exec true").out, "0 b'' b''\n");
}

TEST_F(Relay, PythonTerminatesAndReads) {
    const std::string script =
        "import subprocess, sys\n"
        "p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)\n"
        "print(p.stdout.readline())\n"
        "p.terminate()\n"
        "print(p.wait(30), p.stdout.read())\n";
    const std::string seconds = unique_seconds();
    std::vector<std::string> argv{"/usr/bin/python3", "-I", "-S", "-c", script};
    for (std::string& word : wrapped_line(sleeper(seconds))) argv.push_back(std::move(word));
    const ProgramResult result = run_program(argv);
    EXPECT_EQ(result.out, "b'up\\n'\n-15 b''\n") << result.err;
    EXPECT_TRUE(all_gone(seconds));
}

TEST_F(Relay, AShell) {
    const std::string line = posix_quote(wrapped_line("cat; exit 5")) + "; echo status $?";
    const ProgramResult result = run_program({"/bin/sh", "-c", line}, "piped\n");
    EXPECT_EQ(result.out, "piped\nstatus 5\n") << result.err;
    const std::string killed = posix_quote(wrapped_line("kill -USR2 $$")) + "; echo status $?";
    EXPECT_THAT(run_program({"/bin/sh", "-c", killed}).out, HasSubstr("status " + std::to_string(128 + SIGUSR2)));
    // Parts of a pipeline, in two sessions' worth of processes.
    const std::string pipeline =
        posix_quote(wrapped_line("echo 1; echo 2")) + " | " + posix_quote(wrapped_line("wc -l"));
    EXPECT_EQ(run_program({"/bin/sh", "-c", pipeline}).out, "2\n");
}

TEST_F(Relay, StartFailuresHaveTheStatusesOfShells) {
    const ProgramResult missing = run_program(wrapped(command("/no/such/program")));
    EXPECT_EQ(missing.status, 127);
    EXPECT_THAT(missing.err, HasSubstr("sandpipe: the command was not started: program /no/such/program"));
    EXPECT_EQ(run_program(wrapped(command("/etc/passwd"))).status, 126);
    const ProgramResult cwd = run_program(wrapped(command("true").cwd("/no/such/dir")));
    EXPECT_EQ(cwd.status, 125);
    EXPECT_THAT(cwd.err, HasSubstr("/no/such/dir"));
}

TEST_F(Relay, SignalsReachTheCommand) {
    const std::string seconds = unique_seconds();
    RunningProgram relay(wrapped_line(sleeper(seconds)));
    ASSERT_EQ(relay.read_line(), "up");
    // To the first process only, as kill(2) of the relay's number says: the sleepers would die of it.
    relay.signal(SIGUSR1);
    EXPECT_EQ(relay.read_line(), "got USR1");
    EXPECT_THAT(await_processes(seconds, 3), SizeIs(3));
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
        const std::string own = unique_seconds();
        RunningProgram ended(wrapped(command("sleep").args(own)));
        ASSERT_THAT(await_processes(own, 1), SizeIs(1));
        ended.signal(signal);
        EXPECT_EQ(ended.wait().status, 128 + signal);
        EXPECT_TRUE(all_gone(own));
    }
    relay.signal(SIGTERM);
    EXPECT_EQ(relay.wait().status, 128 + SIGTERM);
    EXPECT_TRUE(all_gone(seconds));
}

TEST_F(Relay, AHandlerDecidesWhatASignalDoes) {
    RunningProgram relay(wrapped_line("trap 'echo caught; exit 9' TERM; echo up; while :; do sleep 0.05; done"));
    ASSERT_EQ(relay.read_line(), "up");
    relay.signal(SIGTERM);
    const ProgramResult result = relay.wait();
    EXPECT_EQ(result.status, 9);
    EXPECT_EQ(result.out, "caught\n");
}

TEST_F(Relay, StoppingAndContinuing) {
    RunningProgram relay(wrapped_line("echo up; read line; echo \"$line\""));
    ASSERT_EQ(relay.read_line(), "up");
    relay.signal(SIGTSTP);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(relay.pid()), &info, WSTOPPED), 0);
    EXPECT_EQ(info.si_status, SIGSTOP);
    relay.signal(SIGCONT);
    relay.write_input("on\n");
    EXPECT_EQ(relay.wait().out, "on\n");
}

TEST_F(Relay, KillingTheRelayEndsTheTree) {
    const std::string seconds = unique_seconds();
    RunningProgram relay(
        wrapped_line("trap '' TERM HUP; setsid sleep " + seconds + " & sleep " + seconds + " & echo up; wait"));
    ASSERT_EQ(relay.read_line(), "up");
    ASSERT_THAT(await_processes(seconds, 3), SizeIs(3));
    relay.signal(SIGKILL);
    EXPECT_EQ(relay.wait().status, 128 + SIGKILL);
    EXPECT_TRUE(all_gone(seconds));
    // The session is as good as before.
    EXPECT_EQ(run_program(wrapped_line("echo again")).out, "again\n");
}

TEST_F(Relay, KillingTheHostEndsBoth) {
    const std::string seconds = unique_seconds();
    RunningProgram host({test_program("relayed_host"), workspace(), "/bin/sh", "-c", sleeper(seconds)});
    const std::string line = "exec " + host.read_line();
    RunningProgram relay({"/bin/sh", "-c", line});
    ASSERT_EQ(relay.read_line(), "up");
    host.signal(SIGKILL);
    const ProgramResult result = relay.wait();
    EXPECT_EQ(result.status, 122);
    EXPECT_THAT(result.err, HasSubstr("sandpipe: the process that holds this command's sandbox went away"));
    EXPECT_TRUE(all_gone(seconds));
    (void)host.wait();
    // And nobody can come later.
    const ProgramResult late = run_program({"/bin/sh", "-c", line});
    EXPECT_NE(late.status, 0);
}

TEST_F(Relay, ClosingTheSessionEndsTheRelay) {
    const std::string seconds = unique_seconds();
    RunningProgram relay(wrapped_line(sleeper(seconds)));
    ASSERT_EQ(relay.read_line(), "up");
    await(sandbox_->close());
    EXPECT_EQ(relay.wait().status, 128 + SIGTERM);
    EXPECT_TRUE(all_gone(seconds));
}

TEST_F(Relay, TheCommandsPipesAreItsOwn) {
    // The relay holds no end of stdout: who reads it sees the end when the command closes it.
    RunningProgram relay(wrapped_line("echo last; exec >&-; read line; exit 4"));
    EXPECT_EQ(relay.read_line(), "last");
    EXPECT_EQ(relay.read_line(), "");
    relay.write_input("go\n");
    EXPECT_EQ(relay.wait().status, 4);
}

TEST_F(Relay, ClosedDescriptorsOfTheExecutorAreNoMatter) {
    const std::string line = "exec " + posix_quote(wrapped_line("cat; echo on")) + " <&- 2>&-";
    EXPECT_EQ(run_program({"/bin/sh", "-c", line}).out, "on\n");
    const std::string blind = "exec " + posix_quote(wrapped_line("echo nowhere; exit 6")) + " <&- >&- 2>&-";
    EXPECT_EQ(run_program({"/bin/sh", "-c", blind}).status, 6);
}

TEST_F(Relay, WithTheLocalExecutorNoRelayRuns) {
    const auto local = local_executor(runtime());
    const auto invocation = await(sandbox_->wrap(sandbox_->shell("echo here; cat /proc/self/status | grep PPid")));
    EXPECT_EQ(argv_of(invocation).at(1), "enter");
    const BinaryExecResult result = await(local->exec(invocation));
    EXPECT_THAT(result.out, ::testing::StartsWith("here\n"));
    // Nothing of this process is in between either while one runs.
    const std::string seconds = unique_seconds();
    auto running = asio::co_spawn(context(), local->exec(await(sandbox_->wrap(command("sleep").args(seconds)))),
                                  asio::use_future);
    const std::vector<pid_t> found = await_processes(seconds, 1);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(processes_with("enter"), IsEmpty());
    ASSERT_EQ(::kill(found.front(), SIGTERM), 0);
    (void)running.get();
}

TEST_F(Relay, ManyAtOnce) {
    std::vector<std::unique_ptr<RunningProgram>> relays;
    for (int i = 0; i < 20; ++i)
        relays.push_back(std::make_unique<RunningProgram>(
            wrapped_line("read x; echo " + std::to_string(i) + "; exit " + std::to_string(i))));
    for (int i = 0; i < 20; ++i) {
        const auto index = static_cast<std::size_t>(i);
        const ProgramResult result = relays[index]->wait();
        EXPECT_EQ(result.out, std::to_string(i) + "\n");
        EXPECT_EQ(result.status, i) << result.err;
    }
}

}  // namespace
}  // namespace sandpipe::testing
