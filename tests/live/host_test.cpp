#include <gmock/gmock.h>

#include <csignal>

#include "support/process_fixture.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {
namespace {

/// Hosts with habits that a test cannot have itself, each a program of its own.
class HostKind : public ProcessFixture {
  protected:
    void expect_good(std::vector<std::string> argv) {
        argv.front() = program(argv.front());
        const ProgramResult result = run_program(argv, {}, 60s);
        EXPECT_EQ(result.status, 0) << result.out << result.err;
        last = result;
    }
    ProgramResult last;
};

TEST_F(HostKind, WithoutStandardDescriptors) {
    for (const char* closed : {"0", "1", "2", "01", "02", "12", "012"}) expect_good({"host_closed_stdio", closed});
}

TEST_F(HostKind, WithDescriptorsThatAreNotCloexec) {
    expect_good({"host_foreign_descriptors", program("live_report_state")});
}

TEST_F(HostKind, WithSignalsIgnoredAndBlocked) {
    expect_good({"host_ignored_signals", program("live_report_state")});
}

TEST_F(HostKind, WithAThreadThatWaitsForEveryChild) {
    expect_good({"host_wait_thief"});
    EXPECT_EQ(last.out, "stolen 0\n");
}

TEST_F(HostKind, ThatClosesEverythingBetweenTwoRuntimes) { expect_good({"host_closes_everything"}); }

TEST_F(HostKind, ThatForks) { expect_good({"host_forks"}); }

TEST_F(HostKind, ThatIsBig) {
    expect_good({"host_is_big"});
    EXPECT_GT(std::atoll(last.out.c_str()), 0);
    EXPECT_LT(std::atoll(last.out.c_str()), 32 << 20);
}

TEST_F(HostKind, WithFewDescriptors) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the vptr check of UBSan needs free descriptors, and calls every object invalid without them";
#endif
    expect_good({"host_few_descriptors"});
}

TEST_F(HostKind, WithoutDescriptors) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the vptr check of UBSan needs free descriptors, and calls every object invalid without them";
#endif
    expect_good({"host_without_descriptors"});
}

TEST_F(HostKind, WhoseEpollIsFull) { expect_good({"host_epoll_is_full"}); }

TEST_F(HostKind, ThatIsInterruptedAllTheTime) { expect_good({"host_interrupted", std::to_string(rounds(200))}); }

TEST_F(HostKind, WhoseThreadsTakeMemorySetHandlersAndChangeTheEnvironment) {
    expect_good({"host_busy_threads", std::to_string(rounds(500))});
}

TEST_F(HostKind, WhoseStartingThreadEnds) { expect_good({"host_thread_ends"}); }

TEST_F(HostKind, ThatIsKilledLeavesNothing) {
    RunningProgram host({program("host_is_killed")});
    for (int i = 0; i < 5; ++i) ASSERT_EQ(host.read_line(), "started");
    const pid_t pid = host.pid();
    std::vector<pid_t> tree;
    for (const pid_t launcher : launchers_of(pid)) {
        tree.push_back(launcher);
        for (const pid_t below : descendants_of(launcher)) tree.push_back(below);
    }
    ASSERT_GE(tree.size(), 6U);
    host.signal(SIGKILL);
    const bool ended = eventually([&] { return std::none_of(tree.begin(), tree.end(), is_alive); });
    EXPECT_TRUE(ended) << "within a second";
    EXPECT_TRUE(eventually([&] { return own_processes().size() <= 1; })) << "what left its session, too";
}

}  // namespace
}  // namespace sandpipe::testing
