#include <gmock/gmock.h>

#include <csignal>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;

/// Policies at the borders of what they may be, and commands that turn against those who started them.
class StopBorder : public ProcessFixture {};

TEST_F(StopBorder, TimesBeyondTheEndOfTheClockMeanNever) {
    constexpr auto kEnd = std::chrono::nanoseconds::max();
    for (const auto time : {kEnd, kEnd - 1ns, kEnd / 2}) {
        const BinaryExecResult result = exec(command("true").timeout(time).start_timeout(time));
        EXPECT_EQ(result.cause, Cause::finished);
        EXPECT_EQ(result.exit_code, 0);
    }
    StopPolicy patient;
    patient.grace = kEnd;
    patient.abandon_after = kEnd;
    const BinaryExecResult polite = exec(sh("trap 'sleep .2; exit 4' TERM; while :; do sleep .05; done")
                                             .timeout(100ms)
                                             .stop(patient));
    EXPECT_EQ(polite.exit_code, 4);
    EXPECT_FALSE(polite.forced);
    patient.kill_at_once = true;
    EXPECT_TRUE(exec(command("sleep").args("60").timeout(100ms).stop(patient)).forced);
}

TEST_F(StopBorder, EverySignalMayBeThePolicys) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGRTMIN, SIGRTMAX}) {
        StopPolicy policy;
        policy.signal = signal;
        const BinaryExecResult result = exec(command("sleep").args("60").timeout(50ms).stop(policy));
        ASSERT_TRUE(std::holds_alternative<Signaled>(result.status)) << signal;
        EXPECT_EQ(std::get<Signaled>(result.status).signal, signal);
        EXPECT_EQ(result.cause, Cause::timed_out);
        EXPECT_FALSE(result.forced) << signal;
    }
}

TEST_F(StopBorder, ASignalThatOnlyStopsIsFollowedByAnEnd) {
    StopPolicy policy;
    policy.signal = SIGSTOP;
    policy.grace = 200ms;
    const BinaryExecResult result = exec(command("sleep").args("60").timeout(50ms).stop(policy));
    EXPECT_TRUE(result.forced);
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGKILL);
}

TEST_F(StopBorder, ACommandThatKillsItsGroupHitsItselfAlone) {
    CommandStream other = start(sh("sleep .3; exit 7"));
    const BinaryExecResult result = exec(sh("sleep 60 & kill -9 0"));
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGKILL);
    EXPECT_EQ(result.cause, Cause::finished);
    EXPECT_EQ(run(other.finish()).exit_code, 7);
}

TEST_F(StopBorder, ACommandThatKillsTheHelperIsLostAndTheNextIsStarted) {
    const BinaryExecResult result = exec(sh("echo before; kill -9 $PPID; sleep 60"));
    EXPECT_EQ(result.cause, Cause::lost);
    EXPECT_EQ(result.out, "before") << "whether or not the helper could still say that it had started";
    EXPECT_EQ(exec(command("true")).exit_code, 0);
    for (const pid_t pid : own_commands()) ::kill(pid, SIGKILL);
}

TEST_F(StopBorder, ACommandThatStopsTheHelperIsGivenUp) {
    StopPolicy policy;
    policy.grace = 100ms;
    policy.abandon_after = 300ms;
    const std::string go = (scratch() / "go").string();
    CommandStream stream =
        start(sh("while [ ! -e " + go + " ]; do sleep .02; done; kill -STOP $PPID; sleep 60").stop(policy));
    const pid_t helper = launchers_of(::getpid()).at(0);
    write_file(go, "");
    ASSERT_TRUE(drive_until([&] { return process_facts(helper)->state == 'T'; }));
    const auto begin = Clock::now();
    stream.stop();
    const CommandResult result = run(stream.finish());
    EXPECT_LT(Clock::now() - begin, 5s);
    EXPECT_EQ(result.cause, Cause::cancelled);
    EXPECT_TRUE(result.abandoned) << "nobody could tell how it ended";
    ::kill(helper, SIGCONT);
    EXPECT_TRUE(eventually([this] { return own_commands().empty(); })) << "it ends once the helper goes on";
    EXPECT_EQ(exec(command("true")).exit_code, 0);
}

TEST_F(StopBorder, ManyStubbornTreesAtOnceHaveAllOfTheirGrace) {
    const int count = rounds(40);
    StopPolicy policy;
    policy.grace = 60s;
    // The inner shell says that it is up: a signal that meets it between its fork and its own trap would be lost.
    const std::string inner = "trap \"sleep .2; exit\" TERM; echo up; while :; do sleep .05; done";
    const std::string outer = "trap 'sleep .2; exit 5' TERM; setsid sh -c '" + inner + "' & while :; do sleep .05; done";
    std::vector<CommandStream> streams;
    for (int i = 0; i < count; ++i) streams.push_back(start(sh(outer).stop(policy)));
    for (CommandStream& stream : streams) (void)run(stream.next());
    for (CommandStream& stream : streams) stream.stop();
    int polite = 0;
    for (CommandStream& stream : streams) {
        const CommandResult result = run(stream.finish(), 60s);
        EXPECT_EQ(result.cause, Cause::cancelled);
        EXPECT_FALSE(result.abandoned);
        polite += result.exit_code == 5 && !result.forced;
    }
    EXPECT_EQ(polite, count);
    EXPECT_TRUE(own_commands().empty());
}

}  // namespace
}  // namespace sandpipe::testing
