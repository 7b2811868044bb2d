// What the gate can do to a call, and a call to the gate.
#include <gtest/gtest.h>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "fake_enforcer.hpp"

namespace sandpipe {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::FakeEnforcer;
using testing::ReachedTheSandbox;

struct Seen {
    int asked = 0;
    bool cancelled = false;
    bool ended = false;
};

/// Waits until it is cancelled.
Gate waits(Seen& seen) {
    return [&seen](const ToolRequest&) -> awaitable<GateDecision> {
        ++seen.asked;
        asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
        try {
            co_await timer.async_wait(asio::use_awaitable);
        } catch (const std::system_error&) {
            seen.cancelled = true;
            throw;
        }
        co_return Approved{};
    };
}

/// Does not care for cancellation, and approves later.
Gate is_stubborn(Seen& seen) {
    return [&seen](const ToolRequest& request) -> awaitable<GateDecision> {
        ++seen.asked;
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        asio::steady_timer timer(co_await asio::this_coro::executor, 50ms);
        co_await timer.async_wait(asio::use_awaitable);
        seen.ended = request.command == "ls";  // still there
        co_return Approved{};
    };
}

class AGate : public ::testing::Test {
  protected:
    RunShellCommandTool tool(Gate gate, std::optional<std::chrono::nanoseconds> timeout = {}) {
        RunShellCommandToolOptions made;
        made.enforcer = enforcer_;
        made.gate = std::move(gate);
        made.gate_timeout = timeout;
        made.workspace = ::testing::TempDir();
        return RunShellCommandTool(std::move(made));
    }

    static json input() { return json{{"command", "ls"}}; }

    std::shared_ptr<FakeEnforcer> enforcer_ = std::make_shared<FakeEnforcer>();
    Seen seen_;
};

void cancel_soon(asio::io_context& context, asio::cancellation_signal& signal) {
    auto timer = std::make_shared<asio::steady_timer>(context, 5ms);
    timer->async_wait(
        [timer, &signal](const std::error_code&) { signal.emit(asio::cancellation_type::terminal); });
}

TEST_F(AGate, IsCancelledWhenItsTimePasses) {
    const ToolResult result = testing::run_alone(tool(waits(seen_), 1ms).call(input()));
    EXPECT_EQ(result.summary["gate"], "timed_out");
    EXPECT_EQ(result.summary["error"], "E_SANDBOX_REFUSED");
    EXPECT_NE(result.text.find("in time"), std::string::npos);
    EXPECT_TRUE(seen_.cancelled);
    EXPECT_TRUE(enforcer_->runs.empty());
    EXPECT_THROW(testing::run_alone(tool(waits(seen_), 1ms).start(input())), Error);
}

TEST_F(AGate, ThatAnswersInTimeIsBelieved) {
    EXPECT_THROW(testing::run_alone(tool(testing::answers(Approved{}), 1h).call(input())), ReachedTheSandbox);
    EXPECT_THROW(testing::run_alone(tool(is_stubborn(seen_), 1h).call(input())), ReachedTheSandbox);
}

TEST_F(AGate, ThatIgnoresItsCancellationDelaysNobodyAndRunsNothing) {
    const auto asked_at = std::chrono::steady_clock::now();
    std::chrono::nanoseconds answered{};
    const RunShellCommandTool made = tool(is_stubborn(seen_), 1ms);
    const auto work = [&]() -> awaitable<ToolResult> {
        ToolResult result = co_await made.call(input());
        answered = std::chrono::steady_clock::now() - asked_at;
        EXPECT_FALSE(seen_.ended);
        co_return result;
    };
    EXPECT_EQ(testing::run_alone(work()).summary["gate"], "timed_out");
    EXPECT_TRUE(seen_.ended) << "it ran on with all that it needs";
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(AGate, CancellationOfTheCallRunsNothing) {
    const ToolResult result = testing::run_alone(tool(waits(seen_)).call(input()), cancel_soon);
    EXPECT_EQ(result.summary["gate"], "aborted");
    EXPECT_EQ(result.summary["cause"], "cancelled");
    EXPECT_NE(result.text.find("withdrawn"), std::string::npos);
    EXPECT_TRUE(seen_.cancelled);
    seen_ = {};
    EXPECT_EQ(testing::run_alone(tool(is_stubborn(seen_)).call(input()), cancel_soon).summary["gate"],
              "aborted");
    EXPECT_TRUE(seen_.ended);
    EXPECT_THROW(testing::run_alone(tool(waits(seen_)).start(input()), cancel_soon), std::system_error);
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(AGate, AnOperatorCancelsToo) {
    using namespace asio::experimental::awaitable_operators;
    const RunShellCommandTool made = tool(waits(seen_));
    const auto work = [&]() -> awaitable<int> {
        asio::steady_timer timer(co_await asio::this_coro::executor, 5ms);
        co_await (made.call(input()) || timer.async_wait(asio::use_awaitable));
        co_return 1;
    };
    EXPECT_EQ(testing::run_alone(work()), 1);
    EXPECT_TRUE(seen_.cancelled);
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(AGate, ACoroutineThatIsCancelledAlreadyAsksNobody) {
    const RunShellCommandTool made = tool(waits(seen_));
    const auto work = [&]() -> awaitable<ToolResult> {
        co_await asio::this_coro::throw_if_cancelled(false);
        asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
        std::error_code ignored;
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        co_return co_await made.call(input());
    };
    EXPECT_EQ(testing::run_alone(work(), cancel_soon).summary["gate"], "aborted");
    EXPECT_EQ(seen_.asked, 0);
}

TEST_F(AGate, ThatThrowsRunsNothing) {
    const Gate broken = [](const ToolRequest&) -> awaitable<GateDecision> { throw std::logic_error("gate"); };
    const Gate broken_later = [](const ToolRequest&) -> awaitable<GateDecision> {
        co_await asio::post(asio::use_awaitable);
        throw std::logic_error("gate");
    };
    // What happens to have the name of our own errors is no answer to the model either.
    const Gate with_our_error = [](const ToolRequest&) -> awaitable<GateDecision> {
        throw Error(Errc::sandbox_path_escape, "gate");
    };
    EXPECT_THROW(testing::run_alone(tool(broken).call(input())), std::logic_error);
    EXPECT_THROW(testing::run_alone(tool(broken_later).call(input())), std::logic_error);
    EXPECT_THROW(testing::run_alone(tool(broken_later, 1h).start(input())), std::logic_error);
    EXPECT_THROW(testing::run_alone(tool(with_our_error).call(input())), Error);
    EXPECT_TRUE(enforcer_->runs.empty());
}

TEST_F(AGate, OutlivesTheToolThatAskedIt) {
    auto made = std::make_unique<RunShellCommandTool>(tool(waits(seen_), 5ms));
    auto work = made->call(input());
    made.reset();
    EXPECT_EQ(testing::run_alone(std::move(work)).summary["gate"], "timed_out");
}

TEST_F(AGate, ALoopThatGoesAwayLeavesNothing) {
    const RunShellCommandTool made = tool(waits(seen_), 1h);
    {
        asio::io_context context;
        asio::co_spawn(context, made.call(input()), [](std::exception_ptr, const ToolResult&) {});
        context.run_for(20ms);
        EXPECT_EQ(seen_.asked, 1);
    }
    EXPECT_FALSE(seen_.cancelled) << "it was destroyed, not resumed";
}

TEST_F(AGate, ManyAtOnceOnManyThreads) {
    std::atomic<int> asked{0};
    const Gate gate = [&](const ToolRequest&) -> awaitable<GateDecision> {
        co_await asio::post(asio::use_awaitable);
        ++asked;
        co_return Declined{"no"};
    };
    const RunShellCommandTool made = tool(gate, 1h);
    asio::thread_pool pool(4);
    std::vector<std::future<ToolResult>> results;
    for (int i = 0; i < 200; ++i)
        results.push_back(asio::co_spawn(pool, made.call(input()), asio::use_future));
    for (auto& result : results) EXPECT_EQ(result.get().summary["gate"], "declined");
    EXPECT_EQ(asked, 200);
}

}  // namespace
}  // namespace sandpipe
