#include <sys/resource.h>

#include <cerrno>
#include <fstream>

#include "process/runtime_core.hpp"
#include "support/process_fixture.hpp"
#include "support/wrong_request.hpp"

namespace sandpipe::testing {
namespace {

/// What cannot be taken ends itself, and nothing beside it.
class WrongRequest : public ProcessFixture {
  protected:
    void expect_unharmed(const ResultBox& neighbour) {
        EXPECT_EQ(exec(command("echo").args("next")).out, "next");
        ASSERT_TRUE(drive_until([&] { return neighbour->has_value(); }));
        EXPECT_EQ((*neighbour)->cause, Cause::finished);
        EXPECT_EQ((*neighbour)->exit_code, 3);
    }
};

TEST_F(WrongRequest, TooLargeIsAFailedStart) {
    const ResultBox neighbour = spawn(sh("sleep 1; exit 3"));
    drive_until([this] { return !own_commands().empty(); });
    const std::vector<std::string> half(600, std::string(120'000, 'x'));
    for (const auto& args : {half, std::vector<std::string>{std::string(70 << 20, 'x')}}) {
        const BinaryExecResult result = exec(command("/bin/true").arg_list(args));
        const auto* failure = std::get_if<NotStarted>(&result.status);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->stage, Stage::arguments);
        EXPECT_EQ(failure->error.value(), E2BIG);
        EXPECT_NE(failure->hint.find("longest argv[1]"), std::string::npos) << failure->hint;
    }
    const BinaryExecResult elsewhere = exec(command("/bin/true").cwd("/" + std::string(70 << 20, 'x')));
    EXPECT_EQ(std::get<NotStarted>(elsewhere.status).stage, Stage::cwd);
    EXPECT_EQ(std::get<NotStarted>(elsewhere.status).error.value(), ENAMETOOLONG);
    expect_unharmed(neighbour);
}

TEST_F(WrongRequest, MalformedIsRefused) {
    const ResultBox neighbour = spawn(sh("sleep 1; exit 3"));
    drive_until([this] { return !own_commands().empty(); });
    detail::PacketChannel& control = *runtime().core()->launcher().control;
    for (const std::string& bytes : wrong_requests())
        EXPECT_EQ(answer_to(control, bytes), "refused " + std::to_string(EPROTO));
    expect_unharmed(neighbour);
}

/// Takes all descriptors away that a process does not hold yet.
class NoMoreDescriptors {
  public:
    explicit NoMoreDescriptors(pid_t pid) : pid_(pid) {
        EXPECT_EQ(::prlimit(pid_, RLIMIT_NOFILE, nullptr, &before_), 0);
        const rlimit none{3, before_.rlim_max};
        EXPECT_EQ(::prlimit(pid_, RLIMIT_NOFILE, &none, nullptr), 0);
    }
    NoMoreDescriptors(const NoMoreDescriptors&) = delete;
    NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;
    ~NoMoreDescriptors() { EXPECT_EQ(::prlimit(pid_, RLIMIT_NOFILE, &before_, nullptr), 0); }

  private:
    pid_t pid_;
    rlimit before_{};
};

TEST_F(WrongRequest, ALookThatSeesNothingIsNoEnd) {
    const std::string file = (scratch() / "pid").string();
    // The leader goes at once; what it leaves in the group does not go by TERM.
    const std::string line = "(trap '' TERM; echo $$ > " + file + "; while :; do sleep 1; done) & wait";
    StopPolicy policy;
    policy.grace = 100ms;
    for (const bool sees_again : {true, false}) {
        const ResultBox box = spawn(sh(line).timeout(500ms).stop(policy));
        ASSERT_TRUE(drive_until([this] { return own_commands().size() >= 2; }));
        const std::vector<pid_t> all = own_commands();
        {
            const NoMoreDescriptors blind(launchers_of(::getpid()).at(0));
            drive_until([&] { return box->has_value(); }, sees_again ? 900ms : 10'000ms);
            if (sees_again) {
                EXPECT_FALSE(box->has_value()) << "the end was guessed";
            }
        }
        ASSERT_TRUE(drive_until([&] { return box->has_value(); }));
        EXPECT_EQ((*box)->cause, Cause::timed_out);
        EXPECT_TRUE((*box)->forced);
        EXPECT_EQ((*box)->abandoned, !sees_again);
        for (const pid_t pid : all) EXPECT_TRUE(eventually([pid] { return !is_alive(pid); }));
    }
}

}  // namespace
}  // namespace sandpipe::testing
