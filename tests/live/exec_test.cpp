#include <gmock/gmock.h>

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

class Exec : public ProcessFixture {};

TEST_F(Exec, ExitCodesAreTheProgramsOwn) {
    for (const int code : {0, 1, 2, 126, 127, 128, 130, 137, 255}) {
        const BinaryExecResult result = exec(sh("exit " + std::to_string(code)));
        EXPECT_EQ(result.exit_code, code);
        ASSERT_TRUE(std::holds_alternative<Exited>(result.status));
        EXPECT_EQ(std::get<Exited>(result.status).code, code);
        EXPECT_EQ(result.cause, Cause::finished);
        EXPECT_EQ(result.failed, code != 0);
        EXPECT_FALSE(result.forced);
    }
}

TEST_F(Exec, SignalsAreToldFromExitCodes) {
    for (const int signal : {SIGHUP, SIGINT, SIGKILL, SIGSEGV, SIGTERM, SIGPIPE}) {
        const BinaryExecResult result = exec(sh("kill -" + std::to_string(signal) + " $$"));
        ASSERT_TRUE(std::holds_alternative<Signaled>(result.status)) << signal;
        EXPECT_EQ(std::get<Signaled>(result.status).signal, signal);
        EXPECT_EQ(result.exit_code, -1);
        EXPECT_TRUE(result.failed);
        EXPECT_EQ(result.cause, Cause::finished);
        EXPECT_FALSE(result.forced) << "nobody here sent a signal";
    }
}

TEST_F(Exec, OutputIsBytesAndTheStreamsAreApart) {
    const BinaryExecResult result = exec(sh(R"(printf 'a\377b\300\000c'; printf 'e\001' >&2)"));
    EXPECT_EQ(result.out, std::string("a\377b\300\000c", 6));
    EXPECT_EQ(result.err, "e\001");
    EXPECT_EQ(result.out_facts.bytes, 6U);
    EXPECT_EQ(result.out_facts.kept, 6U);
    EXPECT_FALSE(result.out_facts.truncated);
    EXPECT_EQ(result.err_facts.bytes, 2U);
}

TEST_F(Exec, OneFinalNewlineIsStripped) {
    EXPECT_EQ(exec(sh(R"(printf 'a\n\n')")).out, "a\n");
    EXPECT_EQ(exec(sh(R"(printf 'a\r\n')")).out, "a");
    EXPECT_EQ(exec(sh(R"(printf 'a\r')")).out, "a\r");
    EXPECT_EQ(exec(sh(R"(printf '\n' >&2)")).err, "");
    EXPECT_EQ(exec(sh("true")).out, "");
}

TEST_F(Exec, TheFinalNewlineStaysWhenAskedFor) {
    LocalExecutorOptions options;
    options.strip_final_newline = false;
    const auto keeping = local_executor(runtime(), options);
    EXPECT_EQ(run(keeping->exec(sh("echo a; echo b >&2"))).out, "a\n");
    EXPECT_EQ(run(keeping->exec(sh("echo a; echo b >&2"))).err, "b\n");
}

TEST_F(Exec, OptionsAreCheckedWhenTheExecutorIsMade) {
    LocalExecutorOptions options;
    for (const auto timeout : {0ns, -1ns}) {
        options.timeout = timeout;
        EXPECT_THROW((void)local_executor(runtime(), options), Error) << timeout.count();
    }
    options.timeout = kNoTimeout;
    EXPECT_EQ(run(local_executor(runtime(), options)->exec(command("true"))).exit_code, 0);
    options.env.set("A=B", "x");
    EXPECT_THROW((void)local_executor(runtime(), options), Error);
}

TEST_F(Exec, ArgumentsArriveAsTheyAre) {
    const BinaryExecResult result =
        exec(command("printf").args("[%s]", "", "a b", "$HOME", "*", "'\"", "\\n", "ä\xff"));
    EXPECT_EQ(result.out, "[][a b][$HOME][*]['\"][\\n][ä\xff]");
}

TEST_F(Exec, TimesAreMeasured) {
    const BinaryExecResult sleeper = exec(command("sleep").args("0.2"));
    EXPECT_GE(sleeper.wall, 200ms);
    EXPECT_LT(sleeper.wall, 5s);
    EXPECT_LT(sleeper.user + sleeper.system, 150ms);
    EXPECT_GE(sleeper.queued, 0ms);
    const BinaryExecResult worker = exec(sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"));
    EXPECT_GT(worker.user, 10ms);
    EXPECT_LE(worker.user, worker.wall + 50ms);
}

TEST_F(Exec, TimesIncludeChildrenThatWereWaitedFor) {
    const BinaryExecResult result =
        exec(sh("sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; true"));
    EXPECT_GT(result.user, 10ms);
}

TEST_F(Exec, MaxRssIsTheCommandsOwn) {
    const BinaryExecResult result = exec(command("true"));
    EXPECT_GT(result.max_rss, 100U * 1024);
    EXPECT_LT(result.max_rss, 32U * 1024 * 1024);
}

TEST_F(Exec, TheCommandHasThreeDescriptorsAndCleanSignals) {
    const BinaryExecResult result = exec(command(program("live_report_state")));
    EXPECT_THAT(result.out, ::testing::HasSubstr("descriptors 0 1 2\n"));
    EXPECT_THAT(result.out, ::testing::HasSubstr("leads its group: yes"));
    for (const char* set : {"SigPnd", "SigBlk", "SigIgn", "SigCgt"})
        EXPECT_THAT(result.out, ::testing::HasSubstr(std::string(set) + ":\t0000000000000000"));
}

TEST_F(Exec, StandardStreamsAreRealPipes) {
    const BinaryExecResult result =
        exec(sh("echo x > /dev/stderr; echo y > /dev/stdout; cat /dev/stdin; echo z >> /proc/self/fd/1")
                 .input(Input::bytes("in\n")));
    EXPECT_EQ(result.err, "x");
    EXPECT_EQ(result.out, "y\nin\nz");
}

TEST_F(Exec, EarlyEndsOfPipelinesDieOfSigpipe) {
    const BinaryExecResult result =
        exec(command("/bin/bash").args("-c", "yes | head -n1; echo ${PIPESTATUS[0]}"));
    EXPECT_EQ(result.out, "y\n141");
}

TEST_F(Exec, ResultsComeOneAfterTheOtherFromOneExecutor) {
    for (int i = 0; i < rounds(200); ++i) {
        const BinaryExecResult result = exec(sh("echo e$0 >&2; echo o$0"));
        ASSERT_EQ(result.out, "o/bin/sh") << i;
        ASSERT_EQ(result.err, "e/bin/sh") << i;
    }
}

TEST_F(Exec, CommandsOfOneContextRunAtTheSameTime) {
    // Each waits for the other by a FIFO: one after the other they would never end.
    const std::string fifo = (scratch() / "fifo").string();
    ASSERT_EQ(exec(command("mkfifo").args(fifo)).exit_code, 0);
    auto reader = std::make_shared<std::optional<BinaryExecResult>>();
    asio::co_spawn(io(), executor()->exec(command("cat").args(fifo)),
                   [reader](std::exception_ptr, BinaryExecResult result) { *reader = std::move(result); });
    EXPECT_EQ(exec(sh("echo met > '" + fifo + "'")).exit_code, 0);
    ASSERT_TRUE(drive_until([&] { return reader->has_value(); }));
    EXPECT_EQ((*reader)->out, "met");
}

TEST_F(Exec, AStopByATracerIsNoExit) {
    CommandStream stream = start(sh("sleep .2; exit 6"));
    const std::vector<pid_t> running = own_commands();
    const pid_t pid = running.empty() ? -1 : running.front();
    if (::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) < 0) GTEST_SKIP() << "this machine forbids ptrace";
    ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr), 0);
    ASSERT_EQ(::waitpid(pid, nullptr, __WALL), pid);
    drive_until([] { return false; }, 300ms);
    EXPECT_TRUE(is_alive(pid));
    ASSERT_EQ(::ptrace(PTRACE_DETACH, pid, nullptr, nullptr), 0);
    const CommandResult result = run(stream.finish());
    EXPECT_EQ(result.exit_code, 6);
    EXPECT_GE(result.wall, 300ms);
}

awaitable<BinaryExecResult> in_one_expression(Runtime& runtime) {
    co_return co_await local_executor(runtime)->exec(command("echo").args("a", "b").timeout(5s));
}

TEST_F(Exec, AnExecutorThatNobodyKeepsServesItsCommand) {
    EXPECT_EQ(run(in_one_expression(runtime())).out, "a b");
}

}  // namespace
}  // namespace sandpipe::testing
