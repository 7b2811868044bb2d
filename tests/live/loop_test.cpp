#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <sys/resource.h>

#include <algorithm>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;
using Executor = std::shared_ptr<BinaryExecutor>;

/// The one thread of a host that has much else to do.
class Loop : public ProcessFixture {
  protected:
    /// Lets `count` coroutines share `work`, which says how many of its runs went wrong.
    template <typename Work>
    int at_a_time(int count, Work work) {
        int ended = 0;
        int failures = 0;
        for (int i = 0; i < count; ++i)
            asio::co_spawn(io(), work(), [&](std::exception_ptr error, int wrong) {
                ++ended;
                failures += error ? 1000 : wrong;
            });
        EXPECT_TRUE(drive_until([&] { return ended == count; }, 120s));
        return failures;
    }
};

awaitable<int> run_true(Executor executor, int count) {
    int failures = 0;
    for (int i = 0; i < count; ++i) {
        const BinaryExecResult result = co_await executor->exec(command("true"));
        failures += result.exit_code != 0 || result.cause != Cause::finished;
    }
    co_return failures;
}

/// How late a timer of 5 ms is at worst, until `done`.
awaitable<Clock::duration> worst_delay(std::function<bool()> done) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    Clock::duration worst{};
    while (!done()) {
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::use_awaitable);
        worst = std::max(worst, Clock::now() - timer.expiry());
    }
    co_return worst;
}

TEST_F(Loop, ATimerIsInTimeWhileCommandsRun) {
    (void)exec(command("true"));
    Clock::duration idle{};
    Clock::duration busy{};
    // Somebody else's work on the machine may hit one of the two measurements, hardly all three pairs.
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto end = Clock::now() + 400ms;
        idle = run(worst_delay([&] { return Clock::now() > end; }));
        int ended = 0;
        for (int i = 0; i < 8; ++i)
            asio::co_spawn(io(), run_true(executor(), 25), [&](std::exception_ptr error, int wrong) {
                EXPECT_TRUE(!error && wrong == 0);
                ++ended;
            });
        busy = run(worst_delay([&] { return ended == 8; }), 60s);
        if (busy <= std::max<Clock::duration>(50ms, 5 * idle)) return;
    }
    FAIL() << "late by " << busy / 1us << " us, and by " << idle / 1us << " us in an idle host";
}

/// While it lives, so many descriptors are allowed, if that is possible here.
class Descriptors {
  public:
    explicit Descriptors(rlim_t count) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit raised{std::max(before_.rlim_cur, count), before_.rlim_max};
        allowed_ = before_.rlim_max >= count && ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
    }
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;
    ~Descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    [[nodiscard]] bool allowed() const noexcept { return allowed_; }

  private:
    rlimit before_{};
    bool allowed_ = false;
};

TEST_F(Loop, ManyIdleCommandsDoNotHoldUpManyShortOnes) {
    const int count = rounds(200);
    const Descriptors descriptors(static_cast<rlim_t>(count) * 3 + 200);
    if (!descriptors.allowed())
        GTEST_SKIP() << "too few descriptors are allowed here for " << count << " commands (ulimit -Hn)";
    (void)exec(command("true"));
    const HostState before = HostState::now();
    {
        std::vector<CommandStream> idle;
        for (int i = 0; i < count; ++i) {
            idle.push_back(start(command("sleep").args("60").out(Output::discard()).err(Output::discard())));
            ASSERT_TRUE(idle.back().started()) << i;
        }
        EXPECT_EQ(at_a_time(20, [&] { return run_true(executor(), count / 20); }), 0);
        for (CommandStream& stream : idle) stream.stop();
        for (CommandStream& stream : idle) {
            const CommandResult result = run(stream.finish(), 60s);
            EXPECT_EQ(result.cause, Cause::cancelled);
            EXPECT_FALSE(result.forced || result.abandoned) << "sleep ends at SIGTERM";
        }
    }
    drive();
    EXPECT_TRUE(own_commands().empty());
    EXPECT_EQ(HostState::now().difference_to(before), "");
}

}  // namespace
}  // namespace sandpipe::testing
