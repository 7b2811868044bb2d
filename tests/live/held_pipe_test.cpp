#include <gmock/gmock.h>

#include <asio/steady_timer.hpp>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;

// The holders live longer, or for ever; on a busy machine nothing less is wrong.
constexpr std::chrono::seconds kFarTooLong{20};

class HeldPipe : public ProcessFixture {
  protected:
    void TearDown() override {
        // What a command may leave behind by contract is no left-over of the library.
        for (const pid_t pid : own_commands()) ::kill(pid, SIGKILL);
        ProcessFixture::TearDown();
    }
    BinaryExecResult timed(BinaryInvocation invocation) {
        const auto begin = Clock::now();
        BinaryExecResult result = exec(std::move(invocation));
        took = Clock::now() - begin;
        return result;
    }
    Clock::duration took{};
};

TEST_F(HeldPipe, TheCommandsOwnExitDecides) {
    const BinaryExecResult result = timed(sh("sleep 30 & echo out; exit 0"));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_FALSE(result.failed);
    EXPECT_EQ(result.cause, Cause::finished);
    EXPECT_TRUE(result.pipe_held_open);
    EXPECT_EQ(result.out, "out");
    EXPECT_FALSE(result.forced);
    EXPECT_EQ(result.survivors_ended, 0U);
    EXPECT_GE(took, 150ms);
    EXPECT_LT(took, kFarTooLong);
    EXPECT_EQ(own_commands().size(), 1U) << "survivors are kept by default";
}

TEST_F(HeldPipe, AnExitCodeIsNotWaitedOver) {
    const BinaryExecResult result = timed(sh("sleep 30 & exit 4"));
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_TRUE(result.pipe_held_open);
    EXPECT_LT(result.wall, kFarTooLong) << "to the command's exit, not to the pipe's end";
}

TEST_F(HeldPipe, ADaemonWithItsOwnSession) {
    const BinaryExecResult result = timed(sh("(setsid sleep 60 &) ; echo started"));
    EXPECT_EQ(result.out, "started");
    EXPECT_FALSE(result.failed);
    EXPECT_TRUE(result.pipe_held_open);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(HeldPipe, WhatOthersAddIsCutAndChangesNothingOfTheEnd) {
    const std::string line = "(sleep 0.08; head -c 5000 /dev/zero >&2; sleep 30) & printf own; exit 0";
    BinaryExecResult result;
    // Where the machine is so busy that its end is seen later, what came by then counts as the command's.
    for (int i = 0; i < 5 && result.cause != Cause::finished; ++i)
        result = timed(sh(line).limit(OutputLimit{1000, OnOverflow::stop}));
    EXPECT_EQ(result.cause, Cause::finished);
    EXPECT_FALSE(result.failed);
    EXPECT_EQ(result.out, "own");
    EXPECT_EQ(result.err.size(), 1000U);
    EXPECT_TRUE(result.err_facts.truncated);
    EXPECT_TRUE(result.pipe_held_open);
}

TEST_F(HeldPipe, IsJudgedForEachStream) {
    const BinaryExecResult only_out = timed(sh("sleep 5 2>/dev/null & echo e >&2"));
    EXPECT_TRUE(only_out.pipe_held_open);
    EXPECT_EQ(only_out.err, "e");
    const BinaryExecResult neither = timed(sh("sleep 30 >/dev/null 2>&1 & echo o"));
    EXPECT_FALSE(neither.pipe_held_open);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(HeldPipe, LateOutputIsTakenWhileItKeepsComing) {
    const BinaryExecResult result = timed(sh("(for i in 1 2 3; do echo $i; sleep .05; done) & exit 0"));
    EXPECT_EQ(result.out, "1\n2\n3");
    EXPECT_FALSE(result.pipe_held_open) << "it ended within the grace";
}

TEST_F(HeldPipe, AChattyHolderCannotKeepTheResultForEver) {
    const BinaryExecResult result = timed(sh("(while :; do echo x; sleep .02; done) & exit 0"));
    EXPECT_TRUE(result.pipe_held_open);
    EXPECT_GE(took, 900ms);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(HeldPipe, OneDeadlineForBothStreamsTogether) {
    const BinaryExecResult result =
        timed(sh("(while :; do echo o; sleep .1; echo e >&2; sleep .1; done) & exit 0"));
    EXPECT_TRUE(result.pipe_held_open);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(HeldPipe, AHolderThatWritesWithoutEndDoesNotStarveTheResult) {
    const BinaryExecResult result =
        timed(sh("yes & exit 0").limit(OutputLimit{1000, OnOverflow::keep_head_and_tail}));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.pipe_held_open);
    EXPECT_LT(took, kFarTooLong);
}

TEST_F(HeldPipe, TheOwnOutputIsAllThereHoweverMuchItIs) {
    const BinaryExecResult result = timed(sh("sleep 5 & head -c 5000000 /dev/zero"));
    EXPECT_EQ(result.out.size(), 5'000'000U);
    EXPECT_TRUE(result.pipe_held_open);
}

TEST_F(HeldPipe, KilledFromOutsideWithAHolderLeft) {
    auto result = std::make_shared<std::optional<BinaryExecResult>>();
    asio::co_spawn(io(),
                   executor()->exec(sh("sleep 60 & echo $$ > " + (scratch() / "pid").string() + "; wait")),
                   [result](std::exception_ptr, BinaryExecResult value) { *result = std::move(value); });
    pid_t pid = 0;
    ASSERT_TRUE(drive_until([&] { return (pid = std::atoi(read_file(scratch() / "pid").c_str())) > 0; }));
    ::kill(pid, SIGKILL);
    ASSERT_TRUE(drive_until([&] { return result->has_value(); }));
    ASSERT_TRUE(std::holds_alternative<Signaled>((*result)->status));
    EXPECT_EQ(std::get<Signaled>((*result)->status).signal, SIGKILL);
    EXPECT_EQ((*result)->cause, Cause::finished);
    EXPECT_FALSE((*result)->forced) << "it was not sandpipe that killed it";
    EXPECT_TRUE((*result)->pipe_held_open);
}

TEST_F(HeldPipe, SurvivorsEndWhenAskedFor) {
    StopPolicy stop;
    stop.survivors = Survivors::end;
    const BinaryExecResult result =
        timed(sh("sleep 60 & setsid sh -c 'trap \"\" TERM; sleep 60' & echo out; exit 5").stop(stop));
    EXPECT_EQ(result.exit_code, 5);
    EXPECT_EQ(result.cause, Cause::finished);
    EXPECT_EQ(result.out, "out");
    EXPECT_GE(result.survivors_ended, 2U);
    EXPECT_FALSE(result.forced) << "the command itself ended by itself";
    EXPECT_TRUE(eventually([this] { return own_commands().empty(); }));
}

TEST_F(HeldPipe, NothingIsHeldAfterAPlainEnd) {
    const BinaryExecResult result = timed(sh("sleep 0.01 & wait; echo o"));
    EXPECT_FALSE(result.pipe_held_open);
    EXPECT_EQ(result.survivors_ended, 0U);
}

}  // namespace
}  // namespace sandpipe::testing
