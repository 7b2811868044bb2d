#include <gmock/gmock.h>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <sandpipe/error.hpp>

#include <sys/statvfs.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "support/process_fixture.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;

class LauncherTest : public ProcessFixture {
  protected:
    bool await_all(const std::vector<ResultBox>& boxes, std::chrono::milliseconds limit = 20s) {
        return drive_until(
            [&] {
                return std::all_of(boxes.begin(), boxes.end(),
                                   [](const auto& box) { return box->has_value(); });
            },
            limit);
    }
};

TEST_F(LauncherTest, StartsWithTheFirstCommandAndServesAll) {
    (void)runtime();
    EXPECT_TRUE(launchers_of(::getpid()).empty());
    for (int i = 0; i < 5; ++i) (void)exec(command("true"));
    EXPECT_EQ(launchers_of(::getpid()).size(), 1U);
}

TEST_F(LauncherTest, IsNoChildOfTheHost) {
    (void)exec(command("true"));
    for (const pid_t launcher : launchers_of(::getpid()))
        EXPECT_NE(process_facts(launcher)->parent, ::getpid());
    EXPECT_TRUE(zombies_of(::getpid()).empty());
}

TEST_F(LauncherTest, SeveralTakeTurns) {
    RuntimeOptions options;
    options.launchers = 3;
    use(options);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(exec(command("true")).exit_code, 0);
    EXPECT_EQ(launchers_of(::getpid()).size(), 3U);
}

TEST_F(LauncherTest, KilledItsCommandsAreLostAndTheNextStartsAnother) {
    const ResultBox box = spawn(sh("echo before; sleep 600"));
    ASSERT_TRUE(drive_until([this] { return own_commands().size() >= 2; }));
    drive_until([] { return false; }, 50ms);
    for (const pid_t launcher : launchers_of(::getpid())) ::kill(launcher, SIGKILL);
    ASSERT_TRUE(drive_until([&] { return box->has_value(); }));
    EXPECT_EQ((*box)->cause, Cause::lost);
    EXPECT_TRUE((*box)->failed);
    EXPECT_EQ((*box)->out, "before");
    EXPECT_EQ(exec(command("echo").args("again")).out, "again");
    EXPECT_EQ(launchers_of(::getpid()).size(), 1U);
    // Kernel fact: plain commands have no guarantee when the helper itself is killed.
    for (const pid_t pid : own_commands()) ::kill(pid, SIGKILL);
}

TEST_F(LauncherTest, NamedByTheHost) {
    RuntimeOptions options;
    options.launcher_path = "/no/such/launcher";
    use(options);
    const BinaryExecResult result = exec(command("true"));
    ASSERT_TRUE(std::holds_alternative<NotStarted>(result.status));
    EXPECT_EQ(std::get<NotStarted>(result.status).stage, Stage::launcher);
    EXPECT_THAT(std::get<NotStarted>(result.status).hint, ::testing::HasSubstr("/no/such/launcher"));
}

/// For Runtimes that are made while it lives.
class Without {
  public:
    explicit Without(const char* features) { ::setenv("SANDPIPE_TEST_WITHOUT", features, 1); }
    Without(const Without&) = delete;
    Without& operator=(const Without&) = delete;
    ~Without() { ::unsetenv("SANDPIPE_TEST_WITHOUT"); }
};

TEST_F(LauncherTest, AFileServesWhereNoMemfdCanBeExecuted) {
    const Without memfd("memfd_exec");
    RuntimeOptions options;
    options.launcher_path = SANDPIPE_LAUNCHER;
    use(options);
    EXPECT_EQ(exec(sh("readlink /proc/$PPID/exe")).out, SANDPIPE_LAUNCHER);
}

TEST_F(LauncherTest, AFileWhereNothingMayBeExecutedIsNamed) {
    struct statvfs place {};
    if (::statvfs("/dev/shm", &place) < 0 || !(place.f_flag & ST_NOEXEC))
        GTEST_SKIP() << "/dev/shm is not mounted noexec on this machine";
    const std::filesystem::path file = "/dev/shm/sandpipe-test-" + std::to_string(::getpid());
    std::filesystem::copy_file(SANDPIPE_LAUNCHER, file);
    RuntimeOptions options;
    options.launcher_path = file;
    use(options);
    const BinaryExecResult result = exec(command("true"));
    std::filesystem::remove(file);
    ASSERT_TRUE(std::holds_alternative<NotStarted>(result.status));
    const std::string& hint = std::get<NotStarted>(result.status).hint;
    EXPECT_THAT(hint, ::testing::HasSubstr(file.string()));
    EXPECT_THAT(hint, ::testing::HasSubstr("Permission denied"));
}

TEST_F(LauncherTest, WithoutCloseRangeCommandsHaveTheSameDescriptors) {
    const Without call("close_range");
    use({});
    const ResultBox neighbour = spawn(sh("sleep 600"));
    ASSERT_TRUE(drive_until([this] { return own_commands().size() >= 2; }));
    EXPECT_EQ(exec(command("ls").args("/proc/self/fd")).out, "0\n1\n2\n3");
    drop_runtime();
}

TEST_F(LauncherTest, UnknownFeaturesAreRefused) {
    const Without nonsense("gravity");
    try {
        const Runtime refused(io().get_executor());
        FAIL() << "a test that takes away something else than it thinks proves nothing";
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        EXPECT_THAT(error.text(), ::testing::HasSubstr("gravity"));
    }
}

TEST_F(LauncherTest, ManyCommandsLeaveNothing) {
    (void)exec(command("true"));
    const pid_t launcher = launchers_of(::getpid()).at(0);
    const HostState before = HostState::now();
    const auto open = [launcher] {
        const auto entries = std::filesystem::directory_iterator("/proc/" + std::to_string(launcher) + "/fd");
        return std::distance(begin(entries), end(entries));
    };
    // Its own, and what the first command has not given back yet.
    const auto open_before = open();
    const int count = rounds(1000);
    for (int done = 0; done < count; done += 20) {
        std::vector<ResultBox> boxes;
        for (int i = 0; i < 20; ++i) boxes.push_back(spawn(sh("exit " + std::to_string(i))));
        ASSERT_TRUE(await_all(boxes));
        for (int i = 0; i < 20; ++i) ASSERT_EQ((*boxes[static_cast<std::size_t>(i)])->exit_code, i);
    }
    EXPECT_EQ(HostState::now().difference_to(before), "");
    EXPECT_TRUE(eventually([&] { return open() <= open_before; }));
    EXPECT_TRUE(zombies_of(launcher).empty());
    EXPECT_TRUE(own_commands().empty());
}

TEST_F(LauncherTest, DaemonsThatEndLeaveNoZombies) {
    (void)exec(command("true"));
    for (int i = 0; i < 10; ++i) (void)exec(sh("(setsid sleep .2 >/dev/null 2>&1 &)"));
    EXPECT_TRUE(drive_until([this] { return own_commands().empty(); }));
    for (const pid_t launcher : launchers_of(::getpid()))
        EXPECT_TRUE(eventually([&] { return zombies_of(launcher).empty(); }));
}

TEST_F(LauncherTest, ACommandDoesNotHoldThePipesOfAnother) {
    const ResultBox sleeper = spawn(command("sleep").args("600"));
    ASSERT_TRUE(drive_until([this] { return own_commands().size() == 1; }));
    const auto begin = Clock::now();
    const BinaryExecResult result = exec(command("echo").args("hi"));
    EXPECT_FALSE(result.pipe_held_open);
    EXPECT_LT(Clock::now() - begin, 20s) << "the other one sleeps for ten minutes";
    drop_runtime();
}

/// A file whose open blocks: somebody else holds a lease on it (fcntl(2)).
class HungStart : public LauncherTest {
  protected:
    void SetUp() override {
        LauncherTest::SetUp();
        path_ = (scratch() / "hung").string();
        std::filesystem::copy_file("/bin/true", path_);
        holder_.emplace(std::vector<std::string>{program("live_hold_lease"), path_});
        if (holder_->read_line() != "held") GTEST_SKIP() << "this file system has no leases (F_SETLEASE)";
    }
    void TearDown() override {
        release();
        LauncherTest::TearDown();
    }
    void release() { holder_.reset(); }
    std::string path_;
    std::optional<RunningProgram> holder_;
};

TEST_F(HungStart, HoldsUpNothingElse) {
    const ResultBox before = spawn(sh("sleep .3; exit 4"));
    const ResultBox stubborn = spawn(sh("sleep 600"));
    ASSERT_TRUE(drive_until([this] { return own_commands().size() >= 3; }));
    const ResultBox hung = spawn(command(path_));
    drive_until([] { return false; }, 100ms);
    const auto begin = Clock::now();
    EXPECT_EQ(exec(sh("exit 5")).exit_code, 5) << "a start";
    ASSERT_TRUE(drive_until([&] { return before->has_value(); })) << "an exit";
    EXPECT_EQ((*before)->exit_code, 4);
    EXPECT_EQ(exec(command("sleep").args("60").timeout(100ms)).cause, Cause::timed_out) << "a stop";
    EXPECT_LT(Clock::now() - begin, 20s) << "the hung start waits until it is released";
    EXPECT_FALSE(hung->has_value());
    release();
    ASSERT_TRUE(drive_until([&] { return hung->has_value(); }));
    EXPECT_EQ((*hung)->exit_code, 0) << "and it goes on when the file is there";
    drop_runtime();
}

TEST_F(HungStart, EndsByStartTimeout) {
    const BinaryExecResult result = exec(command(path_).start_timeout(200ms));
    EXPECT_EQ(result.cause, Cause::not_started);
    ASSERT_TRUE(std::holds_alternative<NotStarted>(result.status));
    EXPECT_EQ(std::get<NotStarted>(result.status).error, std::errc::timed_out);
    EXPECT_TRUE(eventually([this] { return own_commands().empty(); }));
    EXPECT_EQ(exec(command("true")).exit_code, 0);
}

TEST_F(HungStart, EndsByCancellation) {
    asio::cancellation_signal cancel;
    bool done = false;
    asio::co_spawn(
        io(), start_boxed(runtime(), command(path_)),
        asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr, auto) { done = true; }));
    drive_until([] { return false; }, 100ms);
    EXPECT_FALSE(done);
    cancel.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(drive_until([&] { return done; }));
    EXPECT_TRUE(eventually([this] { return own_commands().empty(); }));
}

TEST_F(HungStart, IsNoProgramThatRan) {
    const ResultBox hung = spawn(command(path_).timeout(100ms));
    drive_until([] { return false; }, 200ms);
    EXPECT_FALSE(hung->has_value()) << "the timeout starts with the command, which has not started";
    run(runtime().close());
    ASSERT_TRUE(drive_until([&] { return hung->has_value(); }));
    EXPECT_EQ((*hung)->cause, Cause::cancelled);
    EXPECT_TRUE(std::holds_alternative<NotStarted>((*hung)->status));
}

class Queue : public LauncherTest {
  protected:
    void SetUp() override {
        LauncherTest::SetUp();
        RuntimeOptions options;
        options.max_running = 2;
        use(options);
    }
};

TEST_F(Queue, IsFairAndNeverOverfull) {
    const std::string log = (scratch() / "log").string();
    std::vector<ResultBox> boxes;
    for (int i = 0; i < 12; ++i)
        boxes.push_back(
            spawn(sh("echo + " + std::to_string(i) + " >> " + log + "; sleep .02; echo - >> " + log)));
    ASSERT_TRUE(await_all(boxes));
    std::istringstream lines(read_file(log));
    int running = 0;
    std::vector<int> begun;
    for (std::string sign; lines >> sign;) {
        running += sign == "+" ? 1 : -1;
        EXPECT_LE(running, 2);
        if (sign == "+") lines >> begun.emplace_back();
    }
    ASSERT_EQ(begun.size(), 12U);
    // Two run at a time, so neighbours may change places.
    for (int i = 0; i < 12; ++i) EXPECT_NEAR(begun[static_cast<std::size_t>(i)], i, 1);
    EXPECT_GT((*boxes.back())->queued, (*boxes.front())->queued);
    EXPECT_GE((*boxes.back())->queued, 80ms);
}

TEST_F(Queue, APlaceIsGivenBackByEveryEnd) {
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(exec(command("/no/such/program")).cause, Cause::not_started);
        EXPECT_EQ(exec(command("sleep").args("60").timeout(20ms)).cause, Cause::timed_out);
        EXPECT_EQ(exec(command("true").input(Input::file("/no/such/file"))).cause, Cause::not_started);
    }
    EXPECT_EQ(exec(command("true")).exit_code, 0);
}

TEST_F(Queue, StartTimeoutCountsTheWait) {
    const std::vector<ResultBox> boxes{spawn(sh("sleep .6")), spawn(sh("sleep .6"))};
    const BinaryExecResult result = exec(command("true").start_timeout(100ms));
    EXPECT_EQ(result.cause, Cause::not_started);
    ASSERT_TRUE(std::holds_alternative<NotStarted>(result.status));
    EXPECT_EQ(std::get<NotStarted>(result.status).stage, Stage::queue);
    EXPECT_EQ(std::get<NotStarted>(result.status).error, std::errc::timed_out);
    ASSERT_TRUE(await_all(boxes));
    EXPECT_EQ(exec(command("true")).exit_code, 0);
}

TEST_F(Queue, TheTimeoutDoesNotCountTheWait) {
    const std::vector<ResultBox> boxes{spawn(sh("sleep .5")), spawn(sh("sleep .5"))};
    EXPECT_EQ(exec(command("true").timeout(300ms)).cause, Cause::finished);
    ASSERT_TRUE(await_all(boxes));
}

}  // namespace
}  // namespace sandpipe::testing
