#include <sandpipe/async_exec.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/fake_executor.hpp>
#include <sandpipe/stop_on_signals.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/version.hpp>
#if ASIO_VERSION >= 102401
#include <asio/deferred.hpp>
#else
#include <asio/experimental/deferred.hpp>
#endif
#include <asio/use_future.hpp>

#include <csignal>
#include <future>
#include <thread>

#include "support/process_fixture.hpp"

namespace sandpipe {
namespace {

using namespace testing;
using namespace asio::experimental::awaitable_operators;
#if ASIO_VERSION >= 102401
using asio::deferred;
#else
using asio::experimental::deferred;
#endif

class AsyncExec : public ProcessFixture {};

TEST_F(AsyncExec, CallsBackOnTheRuntimesExecutor) {
    std::optional<BinaryExecResult> result;
    async_exec(executor(), command("echo").args("hi"), [&](std::exception_ptr error, BinaryExecResult value) {
        EXPECT_FALSE(error);
        result = std::move(value);
    });
    EXPECT_FALSE(result) << "completed inline";
    ASSERT_TRUE(drive_until([&] { return result.has_value(); }));
    EXPECT_EQ(result->out, "hi");
}

TEST_F(AsyncExec, GivesAFuture) {
    std::future<BinaryExecResult> future = async_exec(executor(), command("sh").args("-c", "exit 7"), asio::use_future);
    ASSERT_TRUE(drive_until([&] { return future.wait_for(0s) == std::future_status::ready; }));
    EXPECT_EQ(future.get().exit_code, 7);
}

TEST_F(AsyncExec, DeferredStartsNothingUntilItIsCalled) {
    const std::filesystem::path mark = scratch() / "ran";
    auto later = async_exec(executor(), command("touch").args(mark.string()), deferred);
    drive_until([] { return false; }, 100ms);
    EXPECT_FALSE(std::filesystem::exists(mark));
    bool done = false;
    std::move(later)([&](std::exception_ptr, BinaryExecResult) { done = true; });
    ASSERT_TRUE(drive_until([&] { return done; }));
    EXPECT_TRUE(std::filesystem::exists(mark));
}

TEST_F(AsyncExec, TellsOfAWrongInvocationByTheException) {
    std::exception_ptr seen;
    async_exec(executor(), command(""), [&](std::exception_ptr error, BinaryExecResult) { seen = error; });
    ASSERT_TRUE(drive_until([&] { return seen != nullptr; }));
    EXPECT_THROW(std::rethrow_exception(seen), Error);
}

class EveryCancellationType : public AsyncExec, public ::testing::WithParamInterface<asio::cancellation_type> {};

TEST_P(EveryCancellationType, StopsTheCommand) {
    asio::cancellation_signal signal;
    std::optional<BinaryExecResult> result;
    const std::filesystem::path mark = scratch() / "up";
    async_exec(executor(), sh("touch " + mark.string() + "; sleep 60"),
               asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr, BinaryExecResult value) {
                   result = std::move(value);
               }));
    ASSERT_TRUE(drive_until([&] { return std::filesystem::exists(mark); }));
    signal.emit(GetParam());
    ASSERT_TRUE(drive_until([&] { return result.has_value(); }));
    EXPECT_EQ(result->cause, Cause::cancelled);
    EXPECT_TRUE(result->failed);
    ASSERT_TRUE(std::holds_alternative<Signaled>(result->status));
    EXPECT_EQ(std::get<Signaled>(result->status).signal, SIGTERM);
}

TEST_P(EveryCancellationType, BeforeTheFirstStepNothingRuns) {
    asio::cancellation_signal signal;
    std::optional<BinaryExecResult> result;
    std::exception_ptr error;
    const std::filesystem::path mark = scratch() / "ran";
    async_exec(executor(), command("touch").args(mark.string()),
               asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr thrown, BinaryExecResult value) {
                   error = thrown;
                   result = std::move(value);
               }));
    signal.emit(GetParam());
    ASSERT_TRUE(drive_until([&] { return result.has_value(); }));
    EXPECT_FALSE(error);
    EXPECT_EQ(result->cause, Cause::cancelled);
    ASSERT_TRUE(std::holds_alternative<NotStarted>(result->status));
    EXPECT_EQ(std::get<NotStarted>(result->status).error, std::errc::operation_canceled);
    EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST_P(EveryCancellationType, ASecondOneKills) {
    asio::cancellation_signal signal;
    std::optional<BinaryExecResult> result;
    const std::filesystem::path mark = scratch() / "up";
    async_exec(executor(), sh("trap '' TERM; touch " + mark.string() + "; while :; do sleep 1; done"),
               asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr, BinaryExecResult value) {
                   result = std::move(value);
               }));
    ASSERT_TRUE(drive_until([&] { return std::filesystem::exists(mark); }));
    signal.emit(GetParam());
    signal.emit(GetParam());
    ASSERT_TRUE(drive_until([&] { return result.has_value(); }));
    EXPECT_EQ(result->cause, Cause::cancelled);
    EXPECT_TRUE(result->forced);
}

INSTANTIATE_TEST_SUITE_P(Types, EveryCancellationType,
                         ::testing::Values(asio::cancellation_type::terminal, asio::cancellation_type::partial,
                                           asio::cancellation_type::total));

class StopOnSignals : public ProcessFixture {};

awaitable<void> ignore_result(awaitable<BinaryExecResult> work, std::optional<BinaryExecResult>& result) {
    result = co_await std::move(work);
}

TEST_F(StopOnSignals, StopsEveryCommandAtTheFirstAndKillsAtTheSecond) {
    std::optional<BinaryExecResult> polite;
    std::optional<BinaryExecResult> stubborn;
    const std::filesystem::path ready = scratch() / "ready";
    auto work = [&]() -> awaitable<void> {
        co_await (ignore_result(executor()->exec(sh("exec sleep 60")), polite) &&
                  ignore_result(
                      executor()->exec(sh("trap '' TERM; touch " + ready.string() + "; while :; do sleep 1; done")),
                      stubborn));
    };
    bool done = false;
    auto all = [&]() -> awaitable<void> {
        co_await (work() || stop_on_signals(runtime()));
        done = true;
    };
    asio::co_spawn(io(), all(), [](std::exception_ptr error) { EXPECT_FALSE(error); });
    ASSERT_TRUE(drive_until([&] { return std::filesystem::exists(ready); }));
    ::raise(SIGINT);
    ASSERT_TRUE(drive_until([&] { return polite.has_value(); }));
    EXPECT_FALSE(stubborn.has_value());
    ::raise(SIGTERM);
    ASSERT_TRUE(drive_until([&] { return done; }));
    EXPECT_EQ(polite->cause, Cause::cancelled);
    EXPECT_FALSE(polite->forced);
    EXPECT_EQ(stubborn->cause, Cause::cancelled);
    EXPECT_TRUE(stubborn->forced);
}

TEST(FakeExecutor, AnswersFromItsScriptAndKeepsTheCalls) {
    asio::io_context io;
    auto fake = std::make_shared<FakeExecutor>();
    fake->then_exit(3, "out", "err").then_signal(SIGSEGV);
    std::vector<BinaryExecResult> results;
    auto work = [&]() -> awaitable<void> {
        results.push_back(co_await fake->exec(command("git").args("log")));
        results.push_back(co_await fake->exec(command("crash")));
        EXPECT_THROW(co_await fake->exec(command("more")), std::logic_error);
    };
    asio::co_spawn(io, work(), [](std::exception_ptr error) { EXPECT_FALSE(error); });
    io.run();
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].exit_code, 3);
    EXPECT_TRUE(results[0].failed);
    EXPECT_EQ(std::get<Signaled>(results[1].status).signal, SIGSEGV);
    EXPECT_EQ(fake->calls().at(0).args, std::vector<std::string>{"log"});
}

}  // namespace
}  // namespace sandpipe
