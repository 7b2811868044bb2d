#include <gmock/gmock.h>

#include <sandpipe/async_exec.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/fake_executor.hpp>
#include <sandpipe/sandboxed_executor.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>

#include <csignal>
#include <future>
#include <stdexcept>

namespace sandpipe {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A wrapper of the user's own: "wrapped PROGRAM ARGS...".
class Prefixing : public BinarySandbox {
  public:
    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
        ++calls;
        BinaryInvocation wrapped = command("wrapped").args(invocation.fields().program);
        wrapped.arg_list(invocation.fields().args);
        co_return wrapped;
    }
    [[nodiscard]] PathDomain path_domain(PathDomain inner) const override { return {inner.id + "/jail"}; }

    int calls = 0;
};

/// Waits for ever, or until it is cancelled.
class Waiting : public BinarySandbox {
  public:
    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
        asio::steady_timer timer(co_await asio::this_coro::executor);
        timer.expires_at(asio::steady_timer::time_point::max());
        begun = true;
        co_await timer.async_wait(asio::use_awaitable);
        co_return invocation;
    }

    bool begun = false;
};

class Failing : public BinarySandbox {
  public:
    awaitable<BinaryInvocation> wrap(BinaryInvocation) override { throw Error(Errc::sandbox_failed, "no jail today"); }
};

class SandboxedExecutorTest : public ::testing::Test {
  protected:
    SandboxedExecutorTest() {
        options_.inner = inner_;
        options_.sandbox = sandbox_;
        options_.on_sandbox = [this](const AuditEvent& event) {
            seen_.push_back(std::string(kind_name(event)) + " after " + std::to_string(inner_->calls().size()));
            events_.push_back(event);
        };
    }

    BinaryExecResult exec(BinaryInvocation invocation) {
        executor_ = sandboxed_executor(options_);
        auto result = asio::co_spawn(context_, executor_->exec(std::move(invocation)), asio::use_future);
        context_.restart();
        context_.run_for(20s);
        return result.get();
    }

    /// Cancelled once `begun` holds.
    BinaryExecResult exec_and_cancel(const bool& begun, asio::cancellation_type type) {
        executor_ = sandboxed_executor(options_);
        asio::cancellation_signal signal;
        std::promise<BinaryExecResult> result;
        async_exec(executor_, command("x"),
                   asio::bind_executor(context_.get_executor(),
                                       asio::bind_cancellation_slot(
                                           signal.slot(), [&](std::exception_ptr error, BinaryExecResult got) {
                                               if (error) return result.set_exception(error);
                                               result.set_value(std::move(got));
                                           })));
        context_.restart();
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (!begun && std::chrono::steady_clock::now() < deadline) context_.run_one_for(1s);
        EXPECT_TRUE(begun);
        signal.emit(type);
        context_.run_for(20s);
        return result.get_future().get();
    }

    asio::io_context context_;
    std::shared_ptr<FakeExecutor> inner_ = std::make_shared<FakeExecutor>();
    std::shared_ptr<Prefixing> sandbox_ = std::make_shared<Prefixing>();
    SandboxedExecutorOptions options_;
    std::shared_ptr<SandboxedExecutor> executor_;
    std::vector<AuditEvent> events_;
    std::vector<std::string> seen_;
};

TEST_F(SandboxedExecutorTest, HandsOnWhatIsWrappedAndReturnsTheResultAsItIs) {
    inner_->then_exit(3, "out", "err").then_signal(SIGKILL, Cause::timed_out);
    BinaryExecResult result = exec(command("x").args("a", "b"));
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out, "out");
    EXPECT_EQ(result.err, "err");
    EXPECT_EQ(inner_->calls().at(0).program, "wrapped");
    EXPECT_THAT(inner_->calls().at(0).args, ElementsAre("x", "a", "b"));
    result = exec(command("y"));
    EXPECT_EQ(result.cause, Cause::timed_out);
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGKILL);
    EXPECT_THAT(events_, IsEmpty());
}

TEST_F(SandboxedExecutorTest, SeesThePathsThatItsSandboxSays) {
    EXPECT_EQ(sandboxed_executor(options_)->path_domain().id, "fake/jail");
    options_.sandbox = std::make_shared<Waiting>();
    EXPECT_EQ(sandboxed_executor(options_)->path_domain().id, "fake");
}

TEST_F(SandboxedExecutorTest, NeedsAnInnerExecutorAndASandbox) {
    for (const bool no_inner : {true, false}) {
        SandboxedExecutorOptions options = options_;
        (no_inner ? static_cast<void>(options.inner.reset()) : options.sandbox.reset());
        try {
            (void)sandboxed_executor(options);
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
            EXPECT_THAT(error.text(), HasSubstr(no_inner ? "inner is missing" : "sandbox is missing"));
        }
    }
}

TEST_F(SandboxedExecutorTest, AWrongInvocationIsThrownBeforeAnybodyIsAsked) {
    options_.bypass = [](const std::string&) -> bool { throw std::logic_error("asked"); };
    EXPECT_THROW((void)exec(command("")), Error);
    EXPECT_EQ(sandbox_->calls, 0);
    EXPECT_THAT(events_, IsEmpty());
}

TEST_F(SandboxedExecutorTest, ABypassIsToldOnceBeforeItRunsUnwrapped) {
    std::string asked;
    options_.bypass = [&](const std::string& program) {
        asked = program;
        return program == "sh";
    };
    inner_->then_exit(0).then_exit(0);
    const auto before = std::chrono::system_clock::now();
    (void)exec(command("sh").args("-c", "true"));
    EXPECT_EQ(asked, "sh");
    EXPECT_EQ(inner_->calls().at(0).program, "sh");
    EXPECT_THAT(seen_, ElementsAre("bypass after 0"));
    const auto& bypass = std::get<Bypass>(events_.at(0).what);
    EXPECT_EQ(bypass.program, "sh");
    EXPECT_THAT(bypass.args, ElementsAre("-c", "true"));
    EXPECT_TRUE(bypass.resolved.starts_with("/")) << bypass.resolved;
    EXPECT_TRUE(bypass.interpreter);
    EXPECT_GT(events_.at(0).command_id, 0u);
    EXPECT_GE(events_.at(0).time, before);
    // Its twin: not bypassed, not told.
    (void)exec(command("cat"));
    EXPECT_EQ(inner_->calls().at(1).program, "wrapped");
    EXPECT_THAT(seen_, ElementsAre("bypass after 0"));
}

TEST_F(SandboxedExecutorTest, ABypassThatIsNoInterpreterOrDoesNotExist) {
    options_.bypass = [](const std::string&) { return true; };
    inner_->then_exit(0).then_exit(127);
    (void)exec(command("cat"));
    (void)exec(command("no-such-program"));
    EXPECT_FALSE(std::get<Bypass>(events_.at(0).what).interpreter);
    EXPECT_TRUE(std::get<Bypass>(events_.at(0).what).resolved.ends_with("/cat"));
    EXPECT_EQ(std::get<Bypass>(events_.at(1).what).resolved, "");
}

TEST_F(SandboxedExecutorTest, APredicateThatThrowsStartsNothing) {
    options_.bypass = [](const std::string&) -> bool { throw std::runtime_error("odd"); };
    const BinaryExecResult result = exec(command("x"));
    const auto& failure = std::get<NotStarted>(result.status);
    EXPECT_EQ(failure.stage, Stage::wrap);
    EXPECT_EQ(failure.error, make_error_code(Errc::sandbox_refused));
    EXPECT_THAT(failure.hint, HasSubstr("odd"));
    EXPECT_TRUE(result.failed);
    EXPECT_EQ(result.cause, Cause::not_started);
    EXPECT_EQ(sandbox_->calls, 0);
    EXPECT_THAT(inner_->calls(), IsEmpty());
    EXPECT_THAT(seen_, ElementsAre("start_failed after 0"));
}

TEST_F(SandboxedExecutorTest, ASinkThatThrowsAtABypassStartsNothing) {
    options_.bypass = [](const std::string&) { return true; };
    options_.on_sandbox = [](const AuditEvent& event) {
        if (std::holds_alternative<Bypass>(event.what)) throw std::runtime_error("the log is full");
    };
    const BinaryExecResult result = exec(command("x"));
    EXPECT_THAT(std::get<NotStarted>(result.status).hint, HasSubstr("the log is full"));
    EXPECT_THAT(inner_->calls(), IsEmpty());
    EXPECT_EQ(executor_->sink_failures(), 0u);
}

TEST_F(SandboxedExecutorTest, AnyOtherSinkThatThrowsIsCountedAndIgnored) {
    options_.on_sandbox = [](const AuditEvent&) { throw std::runtime_error("the log is full"); };
    inner_->then_not_started({Stage::program, std::make_error_code(std::errc::no_such_file_or_directory), "x", ""});
    const BinaryExecResult result = exec(command("x"));
    EXPECT_EQ(std::get<NotStarted>(result.status).stage, Stage::program);
    EXPECT_EQ(executor_->sink_failures(), 1u);
}

TEST_F(SandboxedExecutorTest, CallbacksMayThrowAnything) {
    options_.bypass = [](const std::string&) -> bool { throw 7; };
    EXPECT_THAT(std::get<NotStarted>(exec(command("x")).status).hint, HasSubstr("bypass threw: something that is no"));
    EXPECT_THAT(inner_->calls(), IsEmpty());
    options_.bypass = nullptr;
    options_.on_sandbox = [](const AuditEvent&) { throw 7; };
    inner_->then_not_started({Stage::program, std::make_error_code(std::errc::no_such_file_or_directory), "x", ""});
    EXPECT_EQ(std::get<NotStarted>(exec(command("x")).status).stage, Stage::program);
    EXPECT_EQ(executor_->sink_failures(), 1u);
}

TEST_F(SandboxedExecutorTest, WhatWrapThrowsIsThrownOn) {
    options_.sandbox = std::make_shared<Failing>();
    try {
        (void)exec(command("x"));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.text(), "no jail today");
    }
    EXPECT_THAT(inner_->calls(), IsEmpty());
    EXPECT_THAT(seen_, ElementsAre("start_failed after 0"));
    EXPECT_EQ(std::get<StartFailed>(events_.at(0).what).failure.error, make_error_code(Errc::sandbox_failed));
}

TEST_F(SandboxedExecutorTest, CancellingWhileWrapWaitsStartsNothing) {
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        const auto waiting = std::make_shared<Waiting>();
        options_.sandbox = waiting;
        const BinaryExecResult result = exec_and_cancel(waiting->begun, type);
        EXPECT_EQ(result.cause, Cause::cancelled);
        EXPECT_EQ(std::get<NotStarted>(result.status).stage, Stage::wrap);
        EXPECT_THAT(inner_->calls(), IsEmpty());
        EXPECT_THAT(seen_, ElementsAre("start_failed after 0"));
        seen_.clear();
    }
}

TEST_F(SandboxedExecutorTest, StartTimeoutCoversWrap) {
    options_.sandbox = std::make_shared<Waiting>();
    const BinaryExecResult result = exec(command("x").start_timeout(20ms));
    const auto& failure = std::get<NotStarted>(result.status);
    EXPECT_EQ(failure.stage, Stage::wrap);
    EXPECT_EQ(failure.error, std::make_error_code(std::errc::timed_out));
    EXPECT_EQ(result.cause, Cause::not_started);
    EXPECT_THAT(inner_->calls(), IsEmpty());
}

TEST_F(SandboxedExecutorTest, WhatWrapTookIsMissingFromTheRest) {
    inner_->then_exit(0).then_exit(0);
    (void)exec(command("x").start_timeout(10s));
    EXPECT_LT(inner_->calls().at(0).start_timeout, 10s);
    EXPECT_GT(inner_->calls().at(0).start_timeout, 1s);
    (void)exec(command("x").start_timeout(kNoTimeout));
    EXPECT_EQ(inner_->calls().at(1).start_timeout, kNoTimeout);
}

TEST_F(SandboxedExecutorTest, PredicateAndSinkRunOnTheAwaitingCoroutinesExecutor) {
    asio::thread_pool pool(3);
    const auto strand = asio::make_strand(pool.get_executor());
    std::atomic<int> inside = 0;
    options_.bypass = [&](const std::string&) {
        inside += strand.running_in_this_thread();
        return true;
    };
    options_.on_sandbox = [&](const AuditEvent&) { inside += strand.running_in_this_thread(); };
    inner_->then_not_started({Stage::program, {}, "x", ""});
    executor_ = sandboxed_executor(options_);
    (void)asio::co_spawn(strand, executor_->exec(command("x")), asio::use_future).get();
    EXPECT_EQ(inside, 3) << "the predicate, the bypass, the failed start";
    pool.join();
}

TEST_F(SandboxedExecutorTest, MayBeNestedAndBothSinksAreToldOfTheSameCommand) {
    std::vector<AuditEvent> outer;
    SandboxedExecutorOptions around;
    around.inner = sandboxed_executor(options_);
    around.sandbox = sandbox_;
    around.on_sandbox = [&](const AuditEvent& event) { outer.push_back(event); };
    inner_->then_not_started({Stage::program, {}, "x", ""});
    auto result = asio::co_spawn(context_, sandboxed_executor(around)->exec(command("x")), asio::use_future);
    context_.run_for(20s);
    (void)result.get();
    EXPECT_THAT(inner_->calls().at(0).args, ElementsAre("wrapped", "x"));
    ASSERT_EQ(outer.size(), 1u);
    ASSERT_EQ(events_.size(), 1u);
    EXPECT_EQ(outer[0].command_id, events_[0].command_id);
}

TEST_F(SandboxedExecutorTest, ADestroyedContextTakesWaitingCommandsWithIt) {
    auto context = std::make_unique<asio::io_context>();
    const auto waiting = std::make_shared<Waiting>();
    options_.sandbox = waiting;
    asio::co_spawn(*context, sandboxed_executor(options_)->exec(command("x")),
                   [](std::exception_ptr, BinaryExecResult) { FAIL() << "it ended"; });
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!waiting->begun && std::chrono::steady_clock::now() < deadline) context->run_one_for(1s);
    EXPECT_TRUE(waiting->begun);
    context.reset();
    EXPECT_THAT(inner_->calls(), IsEmpty());
    EXPECT_EQ(waiting.use_count(), 2) << "something still holds the sandbox";
}

}  // namespace
}  // namespace sandpipe
