#include "process/exit_status.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace sandpipe::detail {
namespace {

struct StatusCase {
    Cause cause;
    EndStatus status;
    int expected;
};

NotStarted not_started(Stage stage, int error = 0) {
    return {stage, std::error_code(error, std::system_category()), "", ""};
}

TEST(ExitStatus, TableOfEndings) {
    const StatusCase cases[] = {
        {Cause::finished, Exited{0}, 0},
        {Cause::finished, Exited{255}, 255},
        {Cause::finished, Signaled{SIGSEGV}, 139},
        {Cause::timed_out, Exited{0}, 124},
        {Cause::timed_out, Signaled{SIGKILL}, 124},
        {Cause::output_limit, Signaled{SIGTERM}, 123},
        {Cause::lost, NotStarted{}, 122},
        {Cause::not_started, not_started(Stage::program, ENOENT), 127},
        {Cause::not_started, not_started(Stage::program, ENOTDIR), 127},
        {Cause::not_started, not_started(Stage::program, ENOEXEC), 126},
        {Cause::not_started, not_started(Stage::program, EISDIR), 126},
        {Cause::not_started, not_started(Stage::program, EACCES), 126},
        {Cause::not_started, not_started(Stage::program, ETIMEDOUT), 125},
        {Cause::not_started, not_started(Stage::program, ECANCELED), 125},
        {Cause::cancelled, not_started(Stage::program, ECANCELED), 143},
        {Cause::not_started, not_started(Stage::interpreter, ENOENT), 127},
        {Cause::not_started, not_started(Stage::interpreter, EACCES), 126},
        {Cause::not_started, not_started(Stage::permission, EACCES), 126},
        {Cause::not_started, not_started(Stage::arguments, E2BIG), 126},
        {Cause::not_started, not_started(Stage::cwd, ENOENT), 125},
        {Cause::not_started, not_started(Stage::namespaces, EPERM), 125},
        {Cause::not_started, not_started(Stage::queue, ETIMEDOUT), 125},
        {Cause::not_started, not_started(Stage::options), 125},
        {Cause::not_started, not_started(Stage::input, ENOENT), 125},
    };
    for (const StatusCase& c : cases) {
        CommandFacts facts;
        facts.cause = c.cause;
        facts.status = c.status;
        EXPECT_EQ(exit_status(facts), c.expected);
    }
}

TEST(ExitStatus, ACancelledCommandHasTheSignalThatWeGot) {
    CommandFacts facts;
    facts.cause = Cause::cancelled;
    facts.status = Exited{0};
    EXPECT_EQ(exit_status(facts, SIGINT), 130);
    EXPECT_EQ(exit_status(facts, SIGTERM), 143);
    facts.status = NotStarted{};
    EXPECT_EQ(exit_status(facts, SIGINT), 130);
}

TEST(ExitStatus, OnlyAFinishedProgramHasItsOwnStatus) {
    CommandFacts facts;
    facts.status = Exited{3};
    facts.cause = Cause::finished;
    EXPECT_TRUE(is_own_status(facts));
    facts.cause = Cause::timed_out;
    EXPECT_FALSE(is_own_status(facts));
    facts.cause = Cause::finished;
    facts.status = Signaled{SIGKILL};
    EXPECT_FALSE(is_own_status(facts));
}

}  // namespace
}  // namespace sandpipe::detail
