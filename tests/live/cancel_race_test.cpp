#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <csignal>
#include <random>

#include "support/cancel_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;

/// Cancellation before, at and around the start and the end.
class CancelRace : public CancelFixture {};

awaitable<BinaryExecResult> already_cancelled(std::shared_ptr<BinaryExecutor> executor,
                                              BinaryInvocation invocation, bool throws) {
    co_await asio::this_coro::throw_if_cancelled(false);
    asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    std::error_code aborted;
    co_await never.async_wait(asio::redirect_error(asio::use_awaitable, aborted));
    co_await asio::this_coro::throw_if_cancelled(throws);
    co_return co_await executor->exec(std::move(invocation));
}

TEST_F(CancelRace, BeforeTheStartNothingRuns) {
    for (const bool throws : {true, false}) {
        const auto pending = spawn(already_cancelled(executor(), sh(mark("ran")), throws));
        drive();
        pending->cancel.emit(asio::cancellation_type::terminal);
        ASSERT_TRUE(await_end(*pending));
        if (throws) {
            EXPECT_TRUE(pending->error);
        } else {
            if (pending->error) std::rethrow_exception(pending->error);
            EXPECT_EQ(pending->result->cause, Cause::cancelled);
            EXPECT_TRUE(std::holds_alternative<NotStarted>(pending->result->status));
        }
        EXPECT_FALSE(std::filesystem::exists(scratch() / "ran"));
    }
    EXPECT_TRUE(launchers_of(::getpid()).empty());
}

TEST_F(CancelRace, InTheQueueNothingRuns) {
    RuntimeOptions options;
    options.max_running = 1;
    use(options);
    const auto first = spawn(sh(mark("up") + "sleep 60"));
    ASSERT_TRUE(await_file("up"));
    const auto second = spawn(sh(mark("ran")));
    drive();
    second->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*second)) << "it must not wait for its place";
    EXPECT_EQ(second->result->cause, Cause::cancelled);
    EXPECT_TRUE(std::holds_alternative<NotStarted>(second->result->status));
    first->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*first));
    EXPECT_FALSE(std::filesystem::exists(scratch() / "ran"));
}

TEST_F(CancelRace, AtRandomMoments) {
    (void)exec(command("true"));
    const HostState before = HostState::now();
    std::mt19937 random(7);
    for (int i = 0; i < rounds(200); ++i) {
        const auto pending = spawn(sh("echo out; sleep .002; echo more; sleep .002"));
        const auto emit_at = Clock::now() + std::chrono::microseconds(random() % 9000);
        drive_until([&] { return pending->done() || Clock::now() >= emit_at; });
        pending->cancel.emit(asio::cancellation_type::terminal);
        ASSERT_TRUE(await_end(*pending)) << i;
        // Cancelled before co_spawn had begun the coroutine: Asio answers for it.
        if (pending->error) {
            EXPECT_THROW(std::rethrow_exception(pending->error), std::system_error) << i;
            continue;
        }
        const BinaryExecResult& result = *pending->result;
        const bool finished = result.cause == Cause::finished;
        ASSERT_TRUE(finished || result.cause == Cause::cancelled) << i;
        ASSERT_TRUE(!finished || result.out == "out\nmore") << i;
        ASSERT_TRUE(result.out.empty() || result.out.starts_with("out")) << i;
        ASSERT_FALSE(result.forced) << i;
        const auto* signaled = std::get_if<Signaled>(&result.status);
        ASSERT_TRUE(!signaled || (!finished && signaled->signal == SIGTERM))
            << i << ": signal " << signaled->signal << ", cause " << to_string(result.cause);
        ASSERT_TRUE(!std::holds_alternative<Exited>(result.status) || result.exit_code == 0) << i;
    }
    EXPECT_TRUE(own_commands().empty());
    EXPECT_EQ(HostState::now().difference_to(before), "");
}

}  // namespace
}  // namespace sandpipe::testing
