#include <gmock/gmock.h>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <csignal>
#include <random>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace asio::experimental::awaitable_operators;
using Clock = std::chrono::steady_clock;

StopPolicy long_grace() {
    StopPolicy policy;
    policy.grace = 20s;
    return policy;
}

class Cancel : public ProcessFixture {
  protected:
    struct Pending {
        std::optional<BinaryExecResult> result;
        std::exception_ptr error;
        asio::cancellation_signal cancel;
        [[nodiscard]] bool done() const { return result || error; }
    };

    std::shared_ptr<Pending> spawn(awaitable<BinaryExecResult> work) {
        auto pending = std::make_shared<Pending>();
        asio::co_spawn(
            io(), std::move(work),
            asio::bind_cancellation_slot(pending->cancel.slot(),
                                         [pending](std::exception_ptr error, BinaryExecResult value) {
                                             pending->error = error;
                                             if (!error) pending->result = std::move(value);
                                         }));
        return pending;
    }
    std::shared_ptr<Pending> spawn(BinaryInvocation invocation) {
        return spawn(executor()->exec(std::move(invocation)));
    }
    bool await_end(Pending& pending, std::chrono::milliseconds limit = 5s) {
        return drive_until([&] { return pending.done(); }, limit);
    }
    bool await_file(const std::string& name) {
        return drive_until([&] { return std::filesystem::exists(scratch() / name); });
    }
    /// Says that it is up, and ignores SIGTERM.
    std::string stubborn() const { return "trap '' TERM; " + mark("up") + "while :; do sleep .05; done"; }
    /// A line that makes the file `name` and goes on.
    std::string mark(const std::string& name) const { return "touch " + (scratch() / name).string() + "; "; }
};

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
    EXPECT_LT(Clock::now() - begin, 1s);
    EXPECT_FALSE(pending->result->pipe_held_open);
}

TEST_F(Cancel, TheSecondEmitKills) {
    const auto pending = spawn(sh(stubborn()).stop(long_grace()));
    ASSERT_TRUE(await_file("up"));
    pending->cancel.emit(asio::cancellation_type::terminal);
    EXPECT_FALSE(await_end(*pending, 300ms)) << "the first one is SIGTERM and grace";
    pending->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*pending, 2s));
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
    EXPECT_LT(Clock::now() - begin, 2s);
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

awaitable<BinaryExecResult> already_cancelled(std::shared_ptr<BinaryExecutor> executor,
                                              BinaryInvocation invocation, bool throws) {
    co_await asio::this_coro::throw_if_cancelled(false);
    asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    std::error_code aborted;
    co_await never.async_wait(asio::redirect_error(asio::use_awaitable, aborted));
    co_await asio::this_coro::throw_if_cancelled(throws);
    co_return co_await executor->exec(std::move(invocation));
}

TEST_F(Cancel, BeforeTheStartNothingRuns) {
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

TEST_F(Cancel, InTheQueueNothingRuns) {
    RuntimeOptions options;
    options.max_running = 1;
    use(options);
    const auto first = spawn(sh(mark("up") + "sleep 60"));
    ASSERT_TRUE(await_file("up"));
    const auto second = spawn(sh(mark("ran")));
    drive();
    second->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*second, 1s)) << "it must not wait for its place";
    EXPECT_EQ(second->result->cause, Cause::cancelled);
    EXPECT_TRUE(std::holds_alternative<NotStarted>(second->result->status));
    first->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*first));
    EXPECT_FALSE(std::filesystem::exists(scratch() / "ran"));
}

TEST_F(Cancel, TheFirstCauseStays) {
    StopPolicy policy;
    policy.grace = 400ms;
    const auto pending = spawn(sh(stubborn()).timeout(700ms).stop(policy));
    ASSERT_TRUE(await_file("up"));
    pending->cancel.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(await_end(*pending));
    EXPECT_EQ(pending->result->cause, Cause::cancelled);
    EXPECT_TRUE(pending->result->forced);
    EXPECT_TRUE(std::holds_alternative<Signaled>(pending->result->status));
    EXPECT_LT(pending->result->wall, 2s);
    EXPECT_GT(pending->result->wall, 400ms);
}

TEST_F(Cancel, AfterTheEndNothingHappens) {
    const auto pending = spawn(command("true"));
    ASSERT_TRUE(await_end(*pending));
    pending->cancel.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(pending->result->cause, Cause::finished);
}

TEST_F(Cancel, AtRandomMoments) {
    (void)exec(command("true"));
    const HostState before = HostState::now();
    std::mt19937 random(7);
    for (int i = 0; i < rounds(200); ++i) {
        const auto pending = spawn(sh("echo out; sleep .002; echo more; sleep .002"));
        const auto emit_at = Clock::now() + std::chrono::microseconds(random() % 9000);
        drive_until([&] { return pending->done() || Clock::now() >= emit_at; });
        pending->cancel.emit(asio::cancellation_type::terminal);
        ASSERT_TRUE(await_end(*pending)) << i;
        ASSERT_TRUE(pending->result) << i;
        const BinaryExecResult& result = *pending->result;
        const bool finished = result.cause == Cause::finished;
        ASSERT_TRUE(finished || result.cause == Cause::cancelled) << i;
        ASSERT_TRUE(!finished || result.out == "out\nmore") << i;
        ASSERT_TRUE(result.out.empty() || result.out.starts_with("out")) << i;
        ASSERT_FALSE(result.forced) << i;
    }
    EXPECT_TRUE(own_commands().empty());
    EXPECT_EQ(HostState::now().difference_to(before), "");
}

TEST_F(Cancel, OfAStreamsStartEndsWhatWasBegun) {
    (void)exec(command("true"));
    const HostState before = HostState::now();
    for (int i = 0; i < rounds(60); ++i) {
        asio::cancellation_signal cancel;
        bool done = false;
        asio::co_spawn(
            io(),
            [](Runtime& owner, BinaryInvocation invocation) -> awaitable<void> {
                CommandStream stream = co_await start_command(owner, std::move(invocation));
                co_await stream.finish();
            }(runtime(), command("sleep").args("60")),
            asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr) { done = true; }));
        const auto emit_at = Clock::now() + std::chrono::microseconds(i * 70);
        drive_until([&] { return Clock::now() >= emit_at; });
        cancel.emit(asio::cancellation_type::terminal);
        ASSERT_TRUE(drive_until([&] { return done; }, 5s)) << i;
    }
    EXPECT_TRUE(drive_until([&] { return own_commands().empty(); }, 2s));
    drive();
    EXPECT_EQ(HostState::now().difference_to(before), "");
}

awaitable<int> next_against_a_timer(CommandStream& stream) {
    asio::steady_timer timer(co_await asio::this_coro::executor, 50ms);
    const auto first = co_await (stream.next() || timer.async_wait(asio::use_awaitable));
    co_return static_cast<int>(first.index());
}

TEST_F(Cancel, OfNextLosesNoEventAndTheCommandRunsOn) {
    CommandStream stream = start(sh("for i in 1 2 3 4 5; do sleep .08; echo $i; done"));
    for (int lost = 0; lost < 3;) lost += run(next_against_a_timer(stream)) == 1;
    std::string rest;
    std::uint64_t last = 0;
    while (auto event = run(stream.next())) {
        if (const auto* chunk = std::get_if<OutputChunk>(&*event)) rest += chunk->data;
        last = std::visit([](const auto& value) { return value.seq; }, *event);
        if (const auto* finished = std::get_if<Finished>(&*event)) {
            EXPECT_EQ(finished->result.cause, Cause::finished);
            EXPECT_EQ(finished->result.out_facts.bytes, 10U);
        }
    }
    EXPECT_EQ(last, 6U);
    EXPECT_THAT(std::string("1\n2\n3\n4\n5\n"), ::testing::EndsWith(rest));
}

TEST_F(Cancel, StopOfAStreamTwiceKills) {
    CommandStream stream = start(sh(stubborn()).stop(long_grace()));
    ASSERT_TRUE(await_file("up"));
    stream.stop();
    stream.stop();
    const CommandResult result = run(stream.finish(), 5s);
    EXPECT_EQ(result.cause, Cause::cancelled);
    EXPECT_TRUE(result.forced);
}

}  // namespace
}  // namespace sandpipe::testing
