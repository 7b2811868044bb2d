#include <sandpipe/error.hpp>

#include <gmock/gmock.h>

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <csignal>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;

const std::string kTree =
    "trap '' TERM; (sleep 600 &); setsid sh -c 'trap \"\" TERM; sleep 600; :' & kill -STOP $!; while :; do "
    "sleep .1; done";

/// What goes away in which order: whatever it is, no process and no memory is left.
class Lifetime : public ProcessFixture {
  protected:
    void run_trees(int count) {
        for (int i = 0; i < count; ++i) (void)spawn(sh(kTree));
        const auto wanted = static_cast<std::size_t>(count) * 4;
        ASSERT_TRUE(drive_until([&] { return own_commands().size() >= wanted; }));
    }
    void expect_all_to_end() {
        EXPECT_TRUE(eventually([this] { return own_processes().empty(); }));
    }
};

TEST_F(Lifetime, TheContextGoesWithRunningCommands) {
    run_trees(3);
    drop_context();
    expect_all_to_end();
}

TEST_F(Lifetime, TheContextGoesAfterTheRuntime) {
    run_trees(2);
    drop_runtime();
    drop_context();
    expect_all_to_end();
}

TEST_F(Lifetime, TheRuntimeGoesFirstAndWhoWaitsHearsOfALoss) {
    const ResultBox box = spawn(sh("echo before; sleep 600"));
    ASSERT_TRUE(drive_until([this] { return own_commands().size() >= 2; }));
    drive_until([] { return false; }, 50ms);
    drop_runtime();
    ASSERT_TRUE(drive_until([&] { return box->has_value(); }));
    EXPECT_EQ((*box)->cause, Cause::lost);
    EXPECT_TRUE((*box)->failed);
    EXPECT_EQ((*box)->exit_code, -1);
    EXPECT_EQ((*box)->out, "before");
    EXPECT_GT((*box)->wall, 0ms);
    expect_all_to_end();
}

TEST_F(Lifetime, AnExecutorOutlivesItsRuntime) {
    const auto orphan = executor();
    (void)run(orphan->exec(command("true")));
    drop_runtime();
    EXPECT_THROW((void)run(orphan->exec(command("true"))), Error);
}

TEST_F(Lifetime, AnAbandonedStreamEndsItsCommand) {
    {
        const CommandStream stream = start(sh("sleep 600; :"));
        EXPECT_TRUE(stream.started());
    }
    EXPECT_TRUE(drive_until([this] { return own_commands().empty(); }));
}

TEST_F(Lifetime, AnAbandonedStreamOfAStubbornCommandIsSeenToItsEnd) {
    StopPolicy policy;
    policy.grace = 200ms;
    { const CommandStream stream = start(sh("trap '' TERM; yes; while :; do sleep .1; done").stop(policy)); }
    EXPECT_TRUE(drive_until([this] { return own_commands().empty(); }));
}

TEST_F(Lifetime, AStreamThatIsReplacedEndsItsCommand) {
    CommandStream stream = start(sh("sleep 600; :"));
    stream = start(sh("exit 5"));
    EXPECT_EQ(run(stream.finish()).exit_code, 5);
    EXPECT_TRUE(drive_until([this] { return own_commands().empty(); }));
}

TEST_F(Lifetime, AStreamOutlivesItsContext) {
    std::optional<CommandStream> stream;
    stream.emplace(start(sh("yes")));
    drop_context();
    expect_all_to_end();
    EXPECT_TRUE(stream->started());
    stream->stop();
    stream.reset();
}

TEST_F(Lifetime, AStreamThatHasSettledOutlivesItsContext) {
    std::optional<CommandStream> stream;
    stream.emplace(start(sh("echo out")));
    (void)run(stream->finish());
    drop_runtime();
    drop_context();
    EXPECT_TRUE(stream->started());
    stream.reset();
}

/// Beside the Runtime's own context, which goes.
template <typename T>
std::string code_in_another_context(awaitable<T> work) {
    asio::io_context other;
    std::string code = "never completed";
    asio::co_spawn(other, std::move(work), [&](std::exception_ptr error, auto&&...) {
        code = "";
        try {
            if (error) std::rethrow_exception(error);
        } catch (const Error& thrown) {
            code = thrown.name();
        }
    });
    other.run_for(20s);
    return code;
}

awaitable<void> next_of(CommandStream& stream) { (void)co_await stream.next(); }
awaitable<void> finish_of(CommandStream& stream) { (void)co_await stream.finish(); }
awaitable<void> write_to(CommandStream& stream) { (void)co_await stream.write("x"); }

TEST_F(Lifetime, OperationsAfterTheContextSayThatItHasGone) {
    std::optional<CommandStream> stream;
    stream.emplace(start(sh("cat").input(Input::stream())));
    drop_context();
    for (auto* operation : {next_of, finish_of, write_to})
        EXPECT_EQ(code_in_another_context(operation(*stream)), "E_SANDBOX_NOT_INITIALIZED");
    stream->stop();
    stream.reset();
    expect_all_to_end();
}

TEST_F(Lifetime, CloseAfterTheContextCompletes) {
    const CommandStream stream = start(sh("sleep 600"));
    drop_context();
    EXPECT_EQ(code_in_another_context(runtime().close()), "");
    EXPECT_EQ(code_in_another_context(runtime().close()), "");
    expect_all_to_end();
}

TEST_F(Lifetime, AnExecutorMayGoBeforeItsCoroutineBegins) {
    BinaryExecResult result;
    asio::co_spawn(io(), local_executor(runtime())->exec(command("echo").args("out")),
                   [&](std::exception_ptr, BinaryExecResult value) { result = std::move(value); });
    EXPECT_TRUE(drive_until([&] { return result.out == "out"; }));
}

TEST_F(Lifetime, AStreamOutlivesItsRuntime) {
    CommandStream stream = start(sh("sleep 600; :"));
    drop_runtime();
    EXPECT_EQ(run(stream.finish()).cause, Cause::lost);
}

awaitable<void> every_operation(Runtime& runtime, std::shared_ptr<BinaryExecutor> executor) {
    CommandStream stream = co_await start_command(
        runtime, sh("echo a; cat >/dev/null; echo b; sleep .02").input(Input::stream()));
    co_await stream.next();
    co_await stream.write(std::string(200'000, 'x'));
    co_await stream.close_input();
    co_await stream.next();
    co_await stream.finish();
    co_await executor->exec(sh("cat; sleep .02").input(Input::bytes(std::string(200'000, 'y'))));
    co_await executor->exec(command("cat").input(Input::file("/etc/passwd")));
}

TEST_F(Lifetime, CoroutinesAbandonedAtEachSuspension) {
    // One more handler runs each time, and then everything goes at once.
    bool finished = false;
    for (int steps = 0; !finished && steps < 2000; steps += steps < 60 ? 1 : 7) {
        asio::io_context context;
        Runtime owner(context.get_executor());
        asio::co_spawn(context, every_operation(owner, local_executor(owner)),
                       [&finished](std::exception_ptr error) { finished = !error; });
        for (int i = 0; i < steps && !finished; ++i)
            if (context.run_one_for(2s) == 0) break;
    }
    EXPECT_TRUE(finished) << "the last round goes all the way";
    expect_all_to_end();
}

TEST_F(Lifetime, AContextAndItsRuntimeManyTimesOver) {
    (void)exec(command("true"));
    close_runtime();
    ASSERT_TRUE(eventually([this] { return own_processes().empty(); }));
    const HostState before = HostState::now();
    for (int i = 0; i < rounds(30); ++i) {
        asio::io_context context;
        Runtime owner(context.get_executor());
        int code = -1;
        asio::co_spawn(context, local_executor(owner)->exec(sh("exit 4")),
                       [&](std::exception_ptr, BinaryExecResult result) { code = result.exit_code; });
        context.run();
        ASSERT_EQ(code, 4) << "and run() returns when nothing is under way";
    }
    EXPECT_EQ(HostState::now().difference_to(before), "");
    expect_all_to_end();
}

TEST_F(Lifetime, CloseStopsAndAwaitsEveryCommand) {
    StopPolicy policy;
    policy.grace = 200ms;
    std::vector<ResultBox> boxes;
    for (const char* line :
         {"sleep 600; :", "trap '' TERM; while :; do sleep .05; done", "setsid sleep 600 & wait"})
        boxes.push_back(spawn(sh(line).stop(policy)));
    ASSERT_TRUE(drive_until([this] { return own_commands().size() >= 5; }));
    run(runtime().close());
    EXPECT_TRUE(own_commands().empty());
    for (const ResultBox& box : boxes) {
        ASSERT_TRUE(drive_until([&] { return box->has_value(); }));
        EXPECT_EQ((*box)->cause, Cause::cancelled);
    }
    EXPECT_THROW((void)exec(command("true")), Error);
    EXPECT_THROW((void)start(command("true")), Error);
    run(runtime().close());
    EXPECT_TRUE(eventually([this] { return own_processes().empty(); })) << "the helpers end, too";
}

TEST_F(Lifetime, CloseOnceBegunGoesToItsEnd) {
    StopPolicy policy;
    policy.grace = 300ms;
    const ResultBox box = spawn(sh("trap '' TERM; while :; do sleep .05; done").stop(policy));
    ASSERT_TRUE(drive_until([this] { return own_commands().size() >= 2; }));
    const auto close_or_time_out = [this]() -> awaitable<void> {
        using namespace asio::experimental::awaitable_operators;
        asio::steady_timer timer(io(), 50ms);
        co_await (runtime().close() || timer.async_wait(asio::use_awaitable));
    };
    run(close_or_time_out());
    EXPECT_TRUE(own_commands().empty()) << "the loser has been awaited, too";
    EXPECT_TRUE(eventually([this] { return own_processes().empty(); }));
}

TEST_F(Lifetime, CloseDoesNotWaitForWhoHoldsAStream) {
    CommandStream stream = start(sh("yes"));
    CommandStream ended = start(sh("head -c 300000 /dev/zero; exit 3"));
    drive_until([] { return false; }, 200ms);  // the queues are full
    run(runtime().close());
    EXPECT_TRUE(own_commands().empty());
    EXPECT_EQ(run(stream.finish()).cause, Cause::cancelled);
    const CommandResult result = run(ended.finish());
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out_facts.bytes, 300'000U);
}

TEST_F(Lifetime, CloseOfAnIdleRuntime) {
    run(runtime().close());
    EXPECT_TRUE(launchers_of(::getpid()).empty());
    EXPECT_THROW((void)exec(command("true")), Error);
}

TEST_F(Lifetime, CloseEndsWhatWaitsInTheQueue) {
    RuntimeOptions options;
    options.max_running = 1;
    use(options);
    std::vector<ResultBox> boxes;
    for (int i = 0; i < 3; ++i)
        boxes.push_back(spawn(sh("touch " + (scratch() / std::to_string(i)).string() + "; sleep 600")));
    ASSERT_TRUE(drive_until([this] { return std::filesystem::exists(scratch() / "0"); }));
    run(runtime().close());
    for (const ResultBox& box : boxes) {
        ASSERT_TRUE(drive_until([&] { return box->has_value(); }));
        EXPECT_EQ((*box)->cause, Cause::cancelled);
    }
    EXPECT_FALSE(std::filesystem::exists(scratch() / "1"));
    EXPECT_FALSE(std::filesystem::exists(scratch() / "2"));
}

}  // namespace
}  // namespace sandpipe::testing
