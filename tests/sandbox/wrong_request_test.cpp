#include "support/wrong_request.hpp"

#include <sys/resource.h>

#include <cerrno>

#include "process/session.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// What a cell cannot take ends itself, and not the session.
class WrongSessionRequest : public SandboxTest {
  protected:
    static pid_t cell() { return children_of(launchers_of(::getpid()).at(0)).at(0); }
};

TEST_F(WrongSessionRequest, TooLargeIsAFailedStart) {
    Session session = open();
    Running neighbour = session.start(session.shell("echo up; read word; exit 3").input(Input::stream()));
    neighbour.await_output("up");
    const Ran ran = session.run(command("/bin/true").args(std::string(70 << 20, 'x')));
    const auto* failure = std::get_if<NotStarted>(&ran.result.status);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->stage, Stage::arguments);
    EXPECT_EQ(failure->error.value(), E2BIG);
    neighbour.write("word\n");
    EXPECT_EQ(neighbour.finish().code(), 3);
}

TEST_F(WrongSessionRequest, MalformedIsRefused) {
    Session session = open();
    Running neighbour = session.start(session.shell("echo up; read word; exit 3").input(Input::stream()));
    neighbour.await_output("up");
    detail::PacketChannel& channel = *session.shell("").fields().session->channel();
    for (const std::string& bytes : wrong_requests())
        EXPECT_EQ(answer_to(channel, bytes), "refused " + std::to_string(EPROTO));
    neighbour.write("word\n");
    EXPECT_EQ(neighbour.finish().code(), 3);
    EXPECT_EQ(session.sh("echo next").out, "next\n");
}

TEST_F(WrongSessionRequest, WithoutDescriptorsForItAStartFailsAndTheNextOneWorks) {
    Session session = open();
    EXPECT_EQ(session.sh("echo first").out, "first\n");
    rlimit before{};
    ASSERT_EQ(::prlimit(cell(), RLIMIT_NOFILE, nullptr, &before), 0);
    const rlimit none{3, before.rlim_max};
    ASSERT_EQ(::prlimit(cell(), RLIMIT_NOFILE, &none, nullptr), 0);
    const Ran ran = session.sh("echo never");
    ASSERT_EQ(::prlimit(cell(), RLIMIT_NOFILE, &before, nullptr), 0);
    EXPECT_NE(ran.result.cause, Cause::finished);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(session.sh("echo next").out, "next\n");
}

}  // namespace
}  // namespace sandpipe::testing
