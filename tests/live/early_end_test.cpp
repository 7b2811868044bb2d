#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// One side lets go of a stream before the other has done with it.
class EarlyEnd : public ProcessFixture {};

TEST_F(EarlyEnd, ACommandThatClosesItsOutputRunsOn) {
    const BinaryExecResult result = exec(sh("echo out; echo err >&2; exec >&- 2>&-; sleep .3; exit 3"));
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out, "out");
    EXPECT_EQ(result.err, "err");
    EXPECT_GE(result.wall, 300ms);
    EXPECT_FALSE(result.pipe_held_open);
}

TEST_F(EarlyEnd, ACommandThatClosedEverythingStillHasItsTimeout) {
    const BinaryExecResult result = exec(sh("exec <&- >&- 2>&-; while :; do sleep .05; done").timeout(200ms));
    EXPECT_EQ(result.cause, Cause::timed_out);
}

awaitable<void> throw_at_the_first_chunk(Runtime& runtime) {
    CommandStream stream = co_await start_command(runtime, command("yes"));
    co_await stream.next();
    throw std::runtime_error("no more");
}

TEST_F(EarlyEnd, AConsumerThatThrowsEndsItsCommand) {
    EXPECT_THROW(run(throw_at_the_first_chunk(runtime())), std::runtime_error);
    EXPECT_TRUE(drive_until([this] { return own_commands().empty(); }));
}

TEST_F(EarlyEnd, AnOutputWhoseReaderHasGoneIsTheCommandsAffair) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    BinaryInvocation writer = command("yes").out(Output::descriptor(ends[1]));
    ::close(ends[0]);
    ::close(ends[1]);
    const BinaryExecResult result = exec(std::move(writer));
    ASSERT_TRUE(std::holds_alternative<Signaled>(result.status));
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGPIPE);
    EXPECT_EQ(result.cause, Cause::finished);
}

TEST_F(EarlyEnd, AStopAfterTheEndHitsNobody) {
    CommandStream stream = start(command("true"));
    EXPECT_EQ(run(stream.finish()).exit_code, 0);
    stream.stop();
    stream.stop();
    EXPECT_EQ(run(stream.finish()).cause, Cause::finished);
    EXPECT_EQ(exec(sh("exit 6")).exit_code, 6);
}

TEST_F(EarlyEnd, ATerminalThatIsHungUp) {
    unique_fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master || ::grantpt(master.get()) < 0 || ::unlockpt(master.get()) < 0)
        GTEST_SKIP() << "this machine has no pseudo terminals (devpts)";
    const std::string name = ::ptsname(master.get());
    CommandStream stream = start(sh("echo up >&2; cat; echo \"cat $?\" >&2").input(Input::file(name)));
    const auto up = run(stream.next());
    ASSERT_TRUE(up && std::holds_alternative<OutputChunk>(*up));
    master.reset();
    EXPECT_EQ(run(stream.finish()).cause, Cause::finished) << "its read ends, and no SIGHUP comes";
}

}  // namespace
}  // namespace sandpipe::testing
