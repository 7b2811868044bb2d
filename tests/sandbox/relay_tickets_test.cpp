#include <gmock/gmock.h>

#include <sandpipe/error.hpp>
#include <sandpipe/local_executor.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "sandbox/entrance.hpp"
#include "support/executor_fixture.hpp"
#include "support/process_tree.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Tickets : public ExecutorTest {
  protected:
    std::vector<std::string> wrapped(const std::shared_ptr<SandboxEnforcer>& sandbox, const std::string& line) {
        return argv_of(await(sandbox->wrap(sandbox->shell(line))));
    }

    /// Refused with 125, nothing on stdout, and this text.
    static void expect_refused(const std::vector<std::string>& argv, const std::string& text) {
        const ProgramResult result = run_program(argv);
        EXPECT_EQ(result.status, 125);
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr("sandpipe: "));
        EXPECT_THAT(result.err, HasSubstr(text));
    }
};

TEST_F(Tickets, AdmitOnce) {
    const auto sandbox = open();
    const auto other = wrapped(sandbox, "echo other");  // keeps the door open
    const auto argv = wrapped(sandbox, "echo once");
    EXPECT_EQ(run_program(argv).out, "once\n");
    expect_refused(argv, "has been used already");
    EXPECT_EQ(run_program(other).out, "other\n");
    expect_refused(other, "leads to no sandbox any more");
}

TEST_F(Tickets, AreNotGivenOutWhereNobodyCouldListen) {
    const ProgramResult result = run_program({test_program("crowded_host"), workspace()});
    EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(Tickets, Expire) {
    constexpr auto kLifetime = 1500ms;
    set_ticket_lifetime(kLifetime);
    const auto sandbox = open();
    set_ticket_lifetime(kTicketLifetime);
    const auto old = wrapped(sandbox, "echo old");
    std::this_thread::sleep_for(kLifetime + 20ms);  // nothing else makes it old
    expect_refused(old, "leads to no sandbox any more");
    // With the door open for another one, the reason can be told.
    const auto fresh = wrapped(sandbox, "echo fresh");
    auto late = old;
    late.at(3) = fresh.at(3);
    expect_refused(late, "expired");
    EXPECT_EQ(run_program(wrapped(sandbox, "echo in time")).out, "in time\n");
}

TEST_F(Tickets, ThatNobodyGaveOut) {
    const auto sandbox = open();
    auto argv = wrapped(sandbox, "echo mine");
    const std::string ticket = argv.at(4);
    EXPECT_EQ(ticket.size(), 32u) << "128 bits";
    argv.at(4) = std::string(32, '0');
    expect_refused(argv, "none of this session's");
    argv.at(4) = "";
    expect_refused(argv, "none of this session's");
    argv.at(4) = ticket;
    argv.at(2) = std::to_string(::getppid());
    expect_refused(argv, "another process than its sandbox's");
    argv.pop_back();
    expect_refused(argv, "enter takes a host, an address and a ticket");
}

TEST_F(Tickets, OfAnotherSessionAreNone) {
    const auto first = open();
    const auto second = open();
    auto argv = wrapped(first, "echo first");
    const auto other = wrapped(second, "echo second");
    const std::string address = argv.at(3);
    argv.at(3) = other.at(3);
    expect_refused(argv, "none of this session's");
    argv.at(3) = address;
    EXPECT_EQ(run_program(argv).out, "first\n");
}

TEST_F(Tickets, EndWithTheirSession) {
    const auto sandbox = open();
    const auto argv = wrapped(sandbox, "echo late");
    await(sandbox->close());
    expect_refused(argv, "leads to no sandbox any more");
    try {
        (void)wrapped(sandbox, "true");
        FAIL() << "a closed session wraps";
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::sandbox_not_initialized);
    }
}

TEST_F(Tickets, AreNotNeededByTheLocalExecutor) {
    const auto sandbox = open();
    const auto local = local_executor(runtime());
    const auto invocation = await(sandbox->wrap(sandbox->shell("echo direct")));
    // A wrapped invocation is a value: it runs as often as one likes where no ticket is used.
    EXPECT_EQ(await(local->exec(invocation)).out, "direct");
    EXPECT_EQ(await(local->exec(invocation)).out, "direct");
    expect_refused(argv_of(invocation), "leads to no sandbox any more");
}

/// Also where only the argv is left of a wrapped invocation: this executor can tell why it is refused, and no relay
/// runs.
TEST_F(Tickets, TheLocalExecutorKnowsThemByTheirArgv) {
    set_ticket_lifetime(300ms);
    const auto hasty = open();
    set_ticket_lifetime(kTicketLifetime);
    const auto sandbox = open();
    const auto local = local_executor(runtime());
    const auto run = [&](const std::vector<std::string>& argv) {
        return await(local->exec(command(argv[0]).arg_list({argv.begin() + 1, argv.end()}).input(Input::bytes("in"))));
    };
    const auto why = [](const BinaryExecResult& result) {
        const auto* start = std::get_if<NotStarted>(&result.status);
        EXPECT_TRUE(start) << result.exit_code << result.err;
        return start ? std::string(to_string(start->stage)) + ": " + start->hint : "";
    };
    const auto once = wrapped(sandbox, "cat; echo $PPID; touch /etc/sandpipe-ticket; exit 3");
    const auto first = run(once);
    EXPECT_EQ(first.exit_code, 3);
    EXPECT_EQ(first.out, "in1");
    EXPECT_THAT(first.err, HasSubstr("Read-only file system"));
    EXPECT_EQ(why(run(once)),
              "wrap: this ticket has been used already; each admits one command: wrap the command again");
    const auto elsewhere = wrapped(sandbox, "echo elsewhere");
    EXPECT_EQ(run_program(elsewhere).out, "elsewhere\n");
    EXPECT_THAT(why(run(elsewhere)), HasSubstr("has been used already"));
    const auto late = wrapped(hasty, "true");
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < 320ms) std::this_thread::yield();
    EXPECT_EQ(why(run(late)), "wrap: this ticket has expired: wrap the command right before it is started");
    const auto closed = wrapped(sandbox, "true");
    await(sandbox->close());
    EXPECT_EQ(why(run(closed)), "wrap: the sandbox session is closed");
}

TEST_F(Tickets, LeaveNothingOnDisk) {
    const auto sandbox = open();
    const auto argv = wrapped(sandbox, "ls -d /tmp/sandpipe-*");
    const fs::path made = fs::read_symlink(argv.at(3));
    EXPECT_THAT(made.string(), AllOf(::testing::StartsWith("/tmp/sandpipe-"), ::testing::EndsWith(" (deleted)")));
    EXPECT_FALSE(fs::exists(made.parent_path()));
    EXPECT_NE(run_program(argv).status, 0);
}

/// As after a change of user: links in /proc are closed to others.
TEST_F(Tickets, OfAProcessThatIsNotDumpable) {
    ASSERT_EQ(::prctl(PR_SET_DUMPABLE, 0), 0);
    restart();
    const auto sandbox = open();
    const auto argv = wrapped(sandbox, "echo in");
    EXPECT_THAT(argv.at(3), ::testing::StartsWith("/tmp/sandpipe-"));
    const fs::path place = fs::path(argv.at(3)).parent_path();
    EXPECT_EQ(fs::status(place).permissions(), fs::perms(0700));
    EXPECT_EQ(run_program(argv).out, "in\n");
    await(sandbox->close());
    EXPECT_FALSE(fs::exists(place));
    ASSERT_EQ(::prctl(PR_SET_DUMPABLE, 1), 0);
}

TEST_F(Tickets, KeepAContextAtWorkOnlyWhileTheyCount) {
    asio::io_context own;
    bool done = false;
    {
        Runtime second{own.get_executor()};
        const auto local = local_executor(second);
        const auto work = [&]() -> awaitable<void> {
            SrtEnforcerOptions options;
            options.workspace = workspace();
            const auto sandbox = co_await srt_enforcer(second, options);
            BinaryInvocation wrapped = co_await sandbox->wrap(command("true"));
            const BinaryExecResult result = co_await local->exec(std::move(wrapped));
            done = !result.failed;
        };
        asio::co_spawn(own, work, [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        });
        // Ends by itself although neither session nor Runtime were closed.
        own.run_for(30s);
        EXPECT_TRUE(own.stopped());
        EXPECT_TRUE(done);
    }
}

TEST_F(Tickets, AreOutOfReachInside) {
    const auto sandbox = open();
    const auto local = local_executor(runtime());
    const auto argv = wrapped(sandbox, "echo never");
    BinaryInvocation inside = command(argv[0]).arg_list({argv.begin() + 1, argv.end()});
    inside.fields().session = (await(sandbox->wrap(command("true")))).fields().session;
    const BinaryExecResult refused = await(local->exec(inside));
    EXPECT_TRUE(refused.failed);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(run_program(argv).out, "never\n") << "it was used up by what could not enter";
}

}  // namespace
}  // namespace sandpipe::testing
