#include <gmock/gmock.h>

#include <asio/experimental/awaitable_operators.hpp>

#include <csignal>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace asio::experimental::awaitable_operators;

/// Processes that leave their command's process group, session and parent: whose they are shows all the same.
class Daemons : public ProcessFixture {
  protected:
    [[nodiscard]] std::string pid_file(const std::string& name) const { return (scratch() / name).string(); }
    /// A line that makes a daemon which writes its number to `name`, and goes on once that is there.
    [[nodiscard]] std::string daemonise(const std::string& name, const std::string& how = "setsid") const {
        const std::string file = pid_file(name);
        return "(" + how + " /bin/sh -c 'echo $$ > " + file + "; exec sleep 60' >/dev/null 2>&1 &); until [ -s " +
               file + " ]; do sleep .01; done; ";
    }
    [[nodiscard]] pid_t daemon(const std::string& name) const { return std::stoi(read_file(pid_file(name))); }

    void end(pid_t pid) {
        ASSERT_TRUE(is_alive(pid));
        ::kill(pid, SIGKILL);
        EXPECT_TRUE(eventually([pid] { return !is_alive(pid); }));
    }
};

TEST_F(Daemons, OfTwoCommandsAreToldApart) {
    const auto [stopped, finished] =
        run(executor()->exec(sh(daemonise("stopped") + "sleep 60").timeout(500ms)) &&
            executor()->exec(sh(daemonise("kept") + "exit 0")));
    EXPECT_EQ(stopped.cause, Cause::timed_out);
    EXPECT_EQ(finished.cause, Cause::finished);
    EXPECT_TRUE(eventually([this] { return !is_alive(daemon("stopped")); }));
    end(daemon("kept"));
}

TEST_F(Daemons, AreFoundWhateverTheyForget) {
    const BinaryExecResult result =
        exec(sh(daemonise("bare", "env -i setsid setsid -f") + "sleep 60").timeout(500ms));
    EXPECT_EQ(result.cause, Cause::timed_out);
    EXPECT_TRUE(eventually([this] { return !is_alive(daemon("bare")); }));
}

TEST_F(Daemons, AreEndedWithTheirCommandWhenAskedFor) {
    StopPolicy policy;
    policy.survivors = Survivors::end;
    const BinaryExecResult result = exec(sh(daemonise("bare", "env -i setsid") + "exit 3").stop(policy));
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.survivors_ended, 1U);
    EXPECT_TRUE(eventually([this] { return !is_alive(daemon("bare")); }));
}

TEST_F(Daemons, AreKeptOtherwise) {
    EXPECT_FALSE(exec(sh(daemonise("kept", "env -i setsid") + "exit 0")).failed);
    end(daemon("kept"));
}

TEST_F(Daemons, TheLimitThatMarksThemLimitsNothing) {
    EXPECT_EQ(
        exec(sh("for i in 1 2 3; do flock " + pid_file("lock") + " true || exit 1; done; ulimit -H -a >/dev/null"))
            .exit_code,
        0);
}

}  // namespace
}  // namespace sandpipe::testing
