#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;

// What is waited for in vain lasts a minute; on a busy machine nothing less is wrong.
constexpr std::chrono::seconds kFarTooLong{20};

StopPolicy grace(std::chrono::milliseconds time) {
    StopPolicy policy;
    policy.grace = time;
    return policy;
}

/// The end of commands by their timeout; the same machinery serves every other cause.
class Stop : public ProcessFixture {
  protected:
    BinaryExecResult timed_out(BinaryInvocation invocation, std::chrono::milliseconds timeout = 300ms) {
        const auto begin = Clock::now();
        BinaryExecResult result = exec(std::move(invocation.timeout(timeout)));
        took = Clock::now() - begin;
        EXPECT_EQ(result.cause, Cause::timed_out);
        EXPECT_TRUE(result.failed);
        EXPECT_EQ(result.timeout, std::chrono::nanoseconds(timeout));
        EXPECT_GE(result.wall, timeout);
        EXPECT_TRUE(eventually([this] { return own_commands().empty(); })) << "the tree has not ended";
        return result;
    }
    Clock::duration took{};
};

TEST_F(Stop, EndsTheWholeTree) {
    const BinaryExecResult result = timed_out(sh("sleep 60; :"));
    EXPECT_FALSE(result.forced);
    ASSERT_TRUE(std::holds_alternative<Signaled>(result.status));
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGTERM);
    EXPECT_LT(took, kFarTooLong);
    (void)timed_out(sh("sh -c 'sleep 60 & sleep 60; :' | cat; :"));
}

TEST_F(Stop, PartialOutputOfBothStreamsIsInTheResult) {
    const BinaryExecResult result = timed_out(sh("echo o; echo e >&2; sleep 10"));
    EXPECT_EQ(result.out, "o");
    EXPECT_EQ(result.err, "e");
}

TEST_F(Stop, WhatIgnoresTermIsKilledAndSaysForced) {
    const BinaryExecResult result =
        timed_out(sh("trap '' TERM; while :; do sleep .1; done").stop(grace(300ms)));
    EXPECT_TRUE(result.forced);
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGKILL);
    EXPECT_GE(took, 600ms);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(Stop, KillAtOnceWaitsForNoGrace) {
    StopPolicy policy = grace(60s);
    policy.kill_at_once = true;
    const BinaryExecResult result = timed_out(sh("trap '' TERM; while :; do sleep .1; done").stop(policy));
    EXPECT_TRUE(result.forced);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(Stop, TheSignalIsThePolicysOwn) {
    StopPolicy policy;
    policy.signal = SIGINT;
    const BinaryExecResult result = timed_out(
        sh("trap 'echo int; exit 9' INT; trap 'echo term' TERM; while :; do sleep .05; done").stop(policy));
    EXPECT_EQ(result.out, "int");
    EXPECT_EQ(result.exit_code, 9);
}

TEST_F(Stop, ACleanExitAtTheTimeoutHasFailedAllTheSame) {
    const BinaryExecResult result = timed_out(sh("trap 'exit 0' TERM; while :; do sleep .05; done"));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.failed);
    EXPECT_FALSE(result.forced);
}

TEST_F(Stop, AskingAndDyingAreTwoFacts) {
    const BinaryExecResult result = timed_out(sh("trap 'exit 1' TERM; while :; do sleep .05; done"));
    ASSERT_TRUE(std::holds_alternative<Exited>(result.status));
    EXPECT_EQ(result.exit_code, 1);
}

TEST_F(Stop, AProgramThatStoppedItself) {
    const BinaryExecResult result = timed_out(sh("kill -STOP $$; sleep 60").stop(grace(60s)));
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGTERM) << "SIGCONT must follow";
    EXPECT_FALSE(result.forced);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(Stop, DescendantsThatStoppedThemselves) {
    const BinaryExecResult result = timed_out(sh("sh -c 'kill -STOP $$; sleep 60' & wait").stop(grace(60s)));
    EXPECT_FALSE(result.forced);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(Stop, DescendantsThatLeftTheGroup) {
    const BinaryExecResult result =
        timed_out(sh("setsid sh -c 'setsid sleep 60 & sleep 60; :' & wait").stop(grace(60s)));
    EXPECT_LT(took, kFarTooLong);
    EXPECT_FALSE(result.forced);
}

TEST_F(Stop, DescendantsThatLeftTheGroupAndIgnoreTerm) {
    const BinaryExecResult result =
        timed_out(sh("setsid sh -c 'trap \"\" TERM; while :; do sleep .05; done' & wait").stop(grace(300ms)));
    EXPECT_TRUE(result.forced);
}

TEST_F(Stop, DescendantsThatLeftTheGroupAndTheirEnvironment) {
    // As long as its parents live, a process is known by them.
    const BinaryExecResult result = timed_out(sh("setsid env -i /bin/sleep 60 & wait").stop(grace(60s)));
    EXPECT_FALSE(result.forced);
}

TEST_F(Stop, ALeaderThatLeftItsOwnGroup) {
    const std::string join = "import os,time; child=os.fork(); child or (os.setpgid(0,0), time.sleep(60)); "
                             "time.sleep(.1); os.setpgid(0,child); time.sleep(60)";
    (void)timed_out(command("python3").args("-c", join).stop(grace(60s)), 500ms);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(Stop, AWorkerOfAnOwnSessionWorksNoMore) {
    const std::string beat = (scratch() / "beat").string();
    (void)timed_out(sh("setsid sh -c 'while :; do date +%N >> " + beat + "; sleep .02; done' & wait"), 500ms);
    const std::string last = read_file(beat);
    EXPECT_FALSE(last.empty());
    EXPECT_FALSE(eventually([&] { return read_file(beat) != last; }, 200ms));
}

TEST_F(Stop, DescendantsOfADeadLeaderThatIgnoreTerm) {
    const BinaryExecResult result =
        timed_out(sh("sh -c 'trap \"\" TERM; while :; do sleep .05; done' & wait").stop(grace(300ms)));
    EXPECT_TRUE(result.forced) << "the leader died of SIGTERM, the others needed SIGKILL";
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGTERM);
}

TEST_F(Stop, DescendantsOfADeadLeaderHaveTheirGraceAndNoMore) {
    // The leader dies at once, its child needs 300 ms to clean up: neither killed, nor waited for to the end
    // of the grace.
    const std::string cleaned = (scratch() / "cleaned").string();
    const BinaryExecResult result = timed_out(sh("sh -c 'trap \"sleep .3; touch " + cleaned +
                                                 "; exit 0\" TERM; while :; do sleep .05; done' & wait")
                                                  .stop(grace(60s)));
    EXPECT_TRUE(std::filesystem::exists(cleaned));
    EXPECT_FALSE(result.forced);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(Stop, AStopDoesNotHoldUpTheStopOfAnother) {
    // The first has a dead leader and a stubborn child, and the second ends in the meantime.
    auto first = std::make_shared<std::optional<BinaryExecResult>>();
    asio::co_spawn(
        io(),
        executor()->exec(
            sh("sh -c 'trap \"\" TERM; while :; do sleep .05; done' & wait").timeout(200ms).stop(grace(4s))),
        [first](std::exception_ptr, BinaryExecResult value) { *first = std::move(value); });
    const BinaryExecResult second =
        exec(sh("sh -c 'trap \"sleep .2; exit\" TERM; while :; do sleep .05; done' & wait")
                 .timeout(400ms)
                 .stop(grace(4s)));
    EXPECT_EQ(second.cause, Cause::timed_out);
    EXPECT_FALSE(second.forced);
    EXPECT_FALSE(first->has_value()) << "it has most of its grace left";
    ASSERT_TRUE(drive_until([&] { return first->has_value(); }));
    EXPECT_TRUE((*first)->forced);
}

TEST_F(Stop, ATreeThatKeepsForkingOutOfItsGroup) {
    // Each link starts the next in a session of its own and ends: no single pass over the processes sees all.
    const std::string link = (scratch() / "link").string();
    write_file(link,
               "#!/bin/sh\ntrap '' TERM\n[ -e " + (scratch() / "off").string() + " ] && exit\nsetsid " +
                   link + " &\n",
               0755);
    const BinaryExecResult result =
        timed_out(sh("trap '' TERM; " + link + " & while :; do sleep .05; done").stop(grace(200ms)));
    write_file(scratch() / "off", "");
    EXPECT_TRUE(result.forced);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(Stop, TheTimeoutIncludesInputThatNobodyReads) {
    const BinaryExecResult result =
        timed_out(command("sleep").args("60").input(Input::bytes(std::string(1 << 20, 'x'))));
    EXPECT_FALSE(result.forced);
}

TEST_F(Stop, TheTimeoutIncludesInputOfADescriptorThatNeverComes) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    (void)timed_out(command("cat").input(Input::descriptor(ends[0])));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(Stop, ThePortIsFreeWhenTheResultIsThere) {
    const BinaryExecResult result =
        timed_out(sh("flock " + (scratch() / "lock").string() +
                     " sh -c 'trap \"\" TERM; while :; do sleep .05; done' & wait")
                      .stop(grace(200ms)));
    EXPECT_TRUE(result.forced);
    EXPECT_EQ(exec(command("flock").args("-n", (scratch() / "lock").string(), "true")).exit_code, 0);
}

TEST_F(Stop, ASecondTimeoutBehindACancellationChangesNothing) {
    const std::string up = (scratch() / "up").string();
    CommandStream stream = start(
        sh("trap '' TERM; touch " + up + "; while :; do sleep .05; done").timeout(1500ms).stop(grace(2s)));
    ASSERT_TRUE(drive_until([&] { return std::filesystem::exists(up); }));
    stream.stop();
    const CommandResult result = run(stream.finish());
    EXPECT_EQ(result.cause, Cause::cancelled);
    EXPECT_TRUE(result.forced);
    EXPECT_GE(result.wall, 2s) << "the timeout must not shorten the grace";
}

TEST_F(Stop, TheExecutorsDefaultAppliesUnlessTheInvocationSaysOtherwise) {
    LocalExecutorOptions options;
    options.timeout = 200ms;
    const auto quick = local_executor(runtime(), options);
    EXPECT_EQ(run(quick->exec(command("sleep").args("60"))).cause, Cause::timed_out);
    EXPECT_EQ(run(quick->exec(command("sleep").args(".4").timeout(kNoTimeout))).cause, Cause::finished);
    EXPECT_EQ(run(quick->exec(command("sleep").args(".4").timeout(10s))).cause, Cause::finished);
}

}  // namespace
}  // namespace sandpipe::testing
