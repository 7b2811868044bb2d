#include <gmock/gmock.h>

#include <unistd.h>

#include <csignal>

#include "support/process_fixture.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {
namespace {

namespace fs = std::filesystem;

/// Hosts at the borders of what the machine lets them do, each a program of its own.
class HostLimits : public ProcessFixture {
  protected:
    ProgramResult run_host(std::vector<std::string> argv) {
        ProgramResult result = run_program(argv, {}, 120s);
        EXPECT_EQ(result.status, 0) << result.out << result.err;
        return result;
    }
    /// A copy of a program of tests/programs that every user may run.
    std::string for_everybody(const std::string& name) {
        fs::permissions(scratch(), fs::perms(0755));
        fs::copy_file(program(name), scratch() / name, fs::copy_options::overwrite_existing);
        return (scratch() / name).string();
    }
};

constexpr unsigned kNobody = 65534;
// A user of this test alone, because RLIMIT_NPROC counts all processes of a user.
constexpr unsigned kLonelyUser = 61'234;

TEST_F(HostLimits, AMillionDescriptors) {
    const ProgramResult result =
        run_host({program("host_many_descriptors"), program("live_report_state")});
    if (result.status == 0 && result.out != "1048576\n")
        GTEST_SKIP() << "passed with fewer: the hard limit of open files cannot be raised to 1048576 here, but to "
                     << result.out;
}

TEST_F(HostLimits, AHelperWithoutDescriptorsRefusesAndLosesNobody) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the vptr check of UBSan needs free descriptors, and calls every object invalid without them";
#endif
    (void)run_host({program("host_launcher_is_full")});
}

TEST_F(HostLimits, FewProcesses) {
    const std::string host = for_everybody("host_few_processes");
    (void)run_host(::geteuid() == 0 ? as_user(kLonelyUser, {host}) : std::vector<std::string>{host});
}

TEST_F(HostLimits, AsPidOne) {
    if (::geteuid() != 0) GTEST_SKIP() << "a pid namespace with a /proc of its own needs root";
    const ProgramResult result = run_host({"/usr/bin/unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
                                           program("host_pid1")});
    EXPECT_EQ(result.err, "");
}

TEST_F(HostLimits, AsASubreaper) { (void)run_host({program("host_pid1"), "subreaper"}); }

class Unsignalable : public HostLimits {
  protected:
    void TearDown() override {
        for (const pid_t pid : own_commands()) ::kill(pid, SIGKILL);
        HostLimits::TearDown();
    }
};

TEST_F(Unsignalable, ACommandThatTookAnotherUsersRightsIsGivenUp) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program that is set-uid root";
    const std::string host = for_everybody("host_cannot_signal");
    const std::string taker = for_everybody("live_take_root");
    fs::permissions(taker, fs::perms(04755));
    const ProgramResult result = run_host(as_user(kNobody, {host, taker}));
    if (result.out.find("uid 0") == std::string::npos)
        GTEST_SKIP() << "set-uid programs have no effect here (a nosuid mount): " << scratch();
    EXPECT_EQ(result.out, "uid 0; timed_out; abandoned; failed\nuid 0; timed_out; abandoned; failed\n");
}

}  // namespace
}  // namespace sandpipe::testing
