#include <gmock/gmock.h>

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <csignal>

#include "support/cancel_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace asio::experimental::awaitable_operators;
using Clock = std::chrono::steady_clock;

class Cancel : public CancelFixture {};

TEST_F(Cancel, TheResultComesWithThePartialOutput) {
    const auto pending = spawn(sh("echo first; echo e >&2; " + mark("up") + "sleep 60; echo second"));
    ASSERT_TRUE(await_file("up"));
    pending->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*pending));
    ASSERT_TRUE(pending->result) << "cancellation gives a result, not an exception";
    EXPECT_EQ(pending->result->cause, Cause::cancelled);
    EXPECT_TRUE(pending->result->failed);
    EXPECT_FALSE(pending->result->forced);
    EXPECT_EQ(pending->result->out, "first");
    EXPECT_EQ(pending->result->err, "e");
    EXPECT_TRUE(own_commands().empty()) << "a cancelled result means that the command has ended";
}

TEST_F(Cancel, AHolderOfThePipeIsEndedToo) {
    const auto pending = spawn(sh("sleep 3600 & " + mark("up") + "wait"));
    ASSERT_TRUE(await_file("up"));
    const auto begin = Clock::now();
    pending->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*pending));
    EXPECT_LT(Clock::now() - begin, 20s);
    EXPECT_FALSE(pending->result->pipe_held_open);
}

TEST_F(Cancel, TheSecondEmitKills) {
    const auto pending = spawn(sh(stubborn()).stop(long_grace()));
    ASSERT_TRUE(await_file("up"));
    pending->cancel.emit(asio::cancellation_type::terminal);
    EXPECT_FALSE(await_end(*pending, 300ms)) << "the first one is SIGTERM and grace";
    pending->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*pending));
    EXPECT_EQ(pending->result->cause, Cause::cancelled);
    EXPECT_TRUE(pending->result->forced);
}

awaitable<BinaryExecResult> accepting_all_types(std::shared_ptr<BinaryExecutor> executor,
                                                BinaryInvocation invocation) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    co_return co_await executor->exec(std::move(invocation));
}

TEST_F(Cancel, EveryTypeStartsTheStopPolicy) {
    const std::pair<const char*, asio::cancellation_type> kTypes[] = {
        {"terminal", asio::cancellation_type::terminal},
        {"partial", asio::cancellation_type::partial},
        {"total", asio::cancellation_type::total}};
    for (const auto& [name, type] : kTypes) {
        const auto pending = spawn(accepting_all_types(
            executor(), sh("trap 'echo term; exit' TERM; " + mark(name) + "while :; do sleep .05; done")));
        ASSERT_TRUE(await_file(name));
        pending->cancel.emit(type);
        ASSERT_TRUE(await_end(*pending)) << name;
        EXPECT_EQ(pending->result->out, "term") << name;
        EXPECT_EQ(pending->result->cause, Cause::cancelled);
    }
}

awaitable<bool> loses_to_a_timer(std::shared_ptr<BinaryExecutor> executor, BinaryInvocation invocation,
                                 std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    const auto first =
        co_await (executor->exec(std::move(invocation)) || timer.async_wait(asio::use_awaitable));
    co_return first.index() == 1;
}

TEST_F(Cancel, AgainstATimer) {
    const auto begin = Clock::now();
    EXPECT_TRUE(run(loses_to_a_timer(executor(), sh("sleep 60; :"), 200ms)));
    EXPECT_LT(Clock::now() - begin, 20s);
    EXPECT_TRUE(own_commands().empty());
    EXPECT_FALSE(run(loses_to_a_timer(executor(), command("true"), 20s)));
}

awaitable<std::string> goes_on_after(std::shared_ptr<BinaryExecutor> executor, BinaryInvocation invocation) {
    co_await asio::this_coro::throw_if_cancelled(false);
    const BinaryExecResult first = co_await executor->exec(std::move(invocation));
    const auto seen = (co_await asio::this_coro::cancellation_state).cancelled();
    co_await asio::this_coro::reset_cancellation_state();
    const BinaryExecResult second = co_await executor->exec(command("echo").args("again"));
    co_return std::string(to_string(first.cause)) +
        (seen != asio::cancellation_type::none ? " seen " : " unseen ") + second.out;
}

TEST_F(Cancel, TheCallersCancellationStateStaysAsItIs) {
    auto text = std::make_shared<std::string>();
    asio::cancellation_signal cancel;
    asio::co_spawn(
        io(), goes_on_after(executor(), sh(mark("up") + "sleep 60")),
        asio::bind_cancellation_slot(cancel.slot(), [text](std::exception_ptr error, std::string value) {
            *text = error ? "thrown" : value;
        }));
    ASSERT_TRUE(await_file("up"));
    cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(drive_until([&] { return !text->empty(); }));
    EXPECT_EQ(*text, "cancelled seen again");
}

TEST_F(Cancel, TheFirstCauseStays) {
    StopPolicy policy;
    policy.grace = 2500ms;
    const auto pending = spawn(sh(stubborn()).timeout(2s).stop(policy));
    ASSERT_TRUE(await_file("up"));
    pending->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*pending));
    EXPECT_EQ(pending->result->cause, Cause::cancelled);
    EXPECT_TRUE(pending->result->forced);
    EXPECT_TRUE(std::holds_alternative<Signaled>(pending->result->status));
    EXPECT_LT(pending->result->wall, 20s);
    EXPECT_GE(pending->result->wall, 2500ms) << "the timeout, which passes meanwhile, must not shorten the grace";
}

TEST_F(Cancel, AfterTheEndNothingHappens) {
    const auto pending = spawn(command("true"));
    ASSERT_TRUE(await_end(*pending));
    pending->cancel.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(pending->result->cause, Cause::finished);
}

}  // namespace
}  // namespace sandpipe::testing
