#include <sandpipe/error.hpp>

#include <gmock/gmock.h>

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "support/cancel_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace asio::experimental::awaitable_operators;
using Clock = std::chrono::steady_clock;

class CancelStream : public CancelFixture {};

TEST_F(CancelStream, OfAStreamsStartEndsWhatWasBegun) {
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
        ASSERT_TRUE(drive_until([&] { return done; })) << i;
    }
    EXPECT_TRUE(drive_until([&] { return own_commands().empty(); }));
    drive();
    EXPECT_EQ(HostState::now().difference_to(before), "");
}

awaitable<int> next_against_a_timer(CommandStream& stream) {
    asio::steady_timer timer(co_await asio::this_coro::executor, 50ms);
    const auto first = co_await (stream.next() || timer.async_wait(asio::use_awaitable));
    co_return static_cast<int>(first.index());
}

TEST_F(CancelStream, OfNextLosesNoEventAndTheCommandRunsOn) {
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

TEST_F(CancelStream, ASecondOperationBesideAnotherIsAnErrorAndTheFirstGoesOn) {
    CommandStream stream = start(sh("sleep .2; echo one; read -r line").input(Input::stream()));
    std::string first;
    asio::co_spawn(io(), stream.next(), [&](std::exception_ptr error, std::optional<OutputEvent> event) {
        const auto* chunk = !error && event ? std::get_if<OutputChunk>(&*event) : nullptr;
        first = chunk ? chunk->data : "lost";
    });
    EXPECT_THROW(run(stream.next()), Error);
    ASSERT_TRUE(drive_until([&] { return !first.empty(); }));
    EXPECT_EQ(first, "one\n");
    std::optional<CommandResult> finished;
    asio::co_spawn(io(), stream.finish(),
                   [&](std::exception_ptr, CommandResult result) { finished = std::move(result); });
    EXPECT_THROW(run(stream.finish()), Error);
    EXPECT_TRUE(run(stream.write("line\n")));
    ASSERT_TRUE(drive_until([&] { return finished.has_value(); }));
    EXPECT_EQ(finished->exit_code, 0);
}

TEST_F(CancelStream, NextBesideFinishHasNoEventLeft) {
    CommandStream stream = start(sh("sleep .1"));
    std::optional<bool> event_came;
    asio::co_spawn(io(), stream.next(), [&](std::exception_ptr error, std::optional<OutputEvent> event) {
        event_came = error || event.has_value();
    });
    EXPECT_EQ(run(stream.finish()).exit_code, 0);
    ASSERT_TRUE(drive_until([&] { return event_came.has_value(); }));
    EXPECT_FALSE(*event_came);
}

TEST_F(CancelStream, StopOfAStreamTwiceKills) {
    CommandStream stream = start(sh(stubborn()).stop(long_grace()));
    ASSERT_TRUE(await_file("up"));
    stream.stop();
    stream.stop();
    const CommandResult result = run(stream.finish());
    EXPECT_EQ(result.cause, Cause::cancelled);
    EXPECT_TRUE(result.forced);
}

}  // namespace
}  // namespace sandpipe::testing
