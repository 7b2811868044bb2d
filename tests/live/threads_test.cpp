#include <gmock/gmock.h>

#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/this_coro.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <atomic>
#include <fstream>
#include <optional>
#include <thread>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace asio::experimental::awaitable_operators;

class Threads : public ProcessFixture {};

awaitable<int> failures_in_a_row(std::shared_ptr<BinaryExecutor> executor, int count, int code) {
    int failures = 0;
    for (int i = 0; i < count; ++i) {
        const BinaryExecResult result =
            co_await executor->exec(sh("echo " + std::to_string(i) + "; exit " + std::to_string(code)));
        failures += result.out != std::to_string(i) || result.exit_code != code;
    }
    co_return failures;
}

TEST_F(Threads, ManyContextsSideBySide) {
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([t, &failures] {
            asio::io_context context;
            Runtime owner(context.get_executor());
            asio::co_spawn(context, failures_in_a_row(local_executor(owner), rounds(100), t),
                           [&](std::exception_ptr error, int count) { failures += error ? 1000 : count; });
            context.run();
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, 0);
}

/// "" if it ran, was cancelled or was refused because the Runtime is closed; else what happened.
awaitable<std::string> odd_fate(std::shared_ptr<BinaryExecutor> executor) {
    BinaryInvocation invocation = command("true");
    try {
        const BinaryExecResult result = co_await executor->exec(std::move(invocation));
        const auto* refused = std::get_if<NotStarted>(&result.status);
        if (!refused || result.cause == Cause::cancelled) co_return "";
        co_return std::string(to_string(refused->stage)) + ' ' + refused->hint;
    } catch (const Error& error) {
        co_return error.errc() == Errc::sandbox_not_initialized ? "" : error.what();
    }
}

TEST_F(Threads, WhatStartsBesideCloseIsAwaitedOrRefused) {
    for (int i = 0; i < rounds(100); ++i) {
        asio::thread_pool pool(2);
        Runtime owner(pool.get_executor());
        auto fate = asio::co_spawn(asio::make_strand(pool), odd_fate(local_executor(owner)), asio::use_future);
        asio::co_spawn(asio::make_strand(pool), owner.close(), asio::use_future).get();
        EXPECT_EQ(fate.get(), "");
        pool.join();
    }
}

TEST_F(Threads, OneContextWithManyAndEightAtATime) {
    asio::thread_pool pool(4);
    Runtime owner(pool.get_executor());
    const auto shared = local_executor(owner);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 8; ++i)
        results.push_back(asio::co_spawn(asio::make_strand(pool), failures_in_a_row(shared, rounds(25), i),
                                         asio::use_future));
    for (auto& result : results) EXPECT_EQ(result.get(), 0);
    asio::co_spawn(pool, owner.close(), asio::use_future).get();
    pool.join();
}

awaitable<std::uint64_t> stream_bytes(Runtime& runtime) {
    CommandStream stream = co_await start_command(runtime, sh("head -c 3000000 /dev/zero; echo e >&2"));
    std::uint64_t bytes = 0;
    while (auto event = co_await stream.next())
        if (const auto* chunk = std::get_if<OutputChunk>(&*event)) bytes += chunk->data.size();
    co_return bytes;
}

TEST_F(Threads, StreamsOnManyThreads) {
    asio::thread_pool pool(4);
    Runtime owner(pool.get_executor());
    std::vector<std::future<std::uint64_t>> results;
    for (int i = 0; i < 8; ++i)
        results.push_back(asio::co_spawn(asio::make_strand(pool), stream_bytes(owner), asio::use_future));
    for (auto& result : results) EXPECT_EQ(result.get(), 3'000'002U);
    pool.join();
}

awaitable<int> failed_copies(std::shared_ptr<BinaryExecutor> executor, std::filesystem::path file, int count) {
    int failures = 0;
    for (int i = 0; i < count; ++i) {
        auto copy =
            command("cat").input(Input::file("/etc/passwd")).out(Output::file(file.string(), FileMode::truncate));
        const BinaryExecResult result = co_await executor->exec(std::move(copy));
        failures += result.exit_code != 0 || read_file(file) != read_file("/etc/passwd");
    }
    co_return failures;
}

TEST_F(Threads, FilesOnManyThreads) {
    asio::thread_pool pool(4);
    Runtime owner(pool.get_executor());
    const auto shared = local_executor(owner);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 8; ++i)
        results.push_back(asio::co_spawn(asio::make_strand(pool),
                                         failed_copies(shared, scratch() / std::to_string(i), rounds(20)),
                                         asio::use_future));
    for (auto& result : results) EXPECT_EQ(result.get(), 0);
    pool.join();
}

TEST_F(Threads, TheRuntimeOnAContextOfItsOwn) {
    // Completions come on the awaiting coroutine's executor.
    asio::thread_pool background(1);
    Runtime owner(background.get_executor());
    const auto shared = local_executor(owner);
    const auto here = std::this_thread::get_id();
    bool on_this_thread = false;
    asio::co_spawn(
        io(),
        [](std::shared_ptr<BinaryExecutor> executor) -> awaitable<std::thread::id> {
            co_await executor->exec(command("true"));
            co_return std::this_thread::get_id();
        }(shared),
        [&](std::exception_ptr, std::thread::id id) { on_this_thread = id == here; });
    io().run();
    EXPECT_TRUE(on_this_thread);
}

TEST_F(Threads, StopFromAnotherThread) {
    asio::thread_pool pool(2);
    Runtime owner(pool.get_executor());
    for (int i = 0; i < rounds(20); ++i) {
        auto stream = asio::co_spawn(
                          pool,
                          [](Runtime& runtime) -> awaitable<std::shared_ptr<CommandStream>> {
                              co_return std::make_shared<CommandStream>(
                                  co_await start_command(runtime, command("sleep").args("60")));
                          }(owner),
                          asio::use_future)
                          .get();
        auto result = asio::co_spawn(pool, stream->finish(), asio::use_future);
        stream->stop();
        EXPECT_EQ(result.get().cause, Cause::cancelled);
    }
    pool.join();
}

awaitable<int> ends_or_loses(std::shared_ptr<BinaryExecutor> executor, std::chrono::microseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    const auto first =
        co_await (executor->exec(command("sleep").args(".01")) || timer.async_wait(asio::use_awaitable));
    if (const auto* result = std::get_if<BinaryExecResult>(&first))
        co_return result->cause == Cause::finished && result->exit_code == 0 ? 0 : 1;
    co_return 0;
}

TEST_F(Threads, ExitAndCancellationAtTheSameInstant) {
    asio::thread_pool pool(4);
    Runtime owner(pool.get_executor());
    const auto shared = local_executor(owner);
    for (int i = 0; i < rounds(50); ++i) {
        std::vector<std::future<int>> results;
        for (int t = 0; t < 4; ++t)
            results.push_back(asio::co_spawn(
                asio::make_strand(pool), ends_or_loses(shared, std::chrono::microseconds(10'500 + t * 700)),
                asio::use_future));
        for (auto& result : results) {
            ASSERT_EQ(result.wait_for(10s), std::future_status::ready) << "a deadlock";
            EXPECT_EQ(result.get(), 0);
        }
    }
    EXPECT_TRUE(own_commands().empty());
    pool.join();
}

TEST_F(Threads, FreshProgramsAreNotBusy) {
    // Another thread's child between clone and execve may hold the file open for writing: ETXTBSY.
    asio::thread_pool pool(2);
    Runtime owner(pool.get_executor());
    const auto shared = local_executor(owner);
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < rounds(15); ++i) {
                const auto path = scratch() / (std::to_string(t) + "-" + std::to_string(i));
                write_file(path, read_file("/bin/true"), 0755);
                const auto result =
                    asio::co_spawn(pool, shared->exec(command(path.string())), asio::use_future).get();
                failures += result.exit_code != 0;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, 0);
    pool.join();
}

TEST_F(Threads, CloseWhileOthersStart) {
    for (int round = 0; round < rounds(10); ++round) {
        asio::thread_pool pool(3);
        Runtime owner(pool.get_executor());
        const auto shared = local_executor(owner);
        std::vector<std::future<int>> results;
        for (int i = 0; i < 6; ++i)
            results.push_back(
                asio::co_spawn(asio::make_strand(pool), failures_in_a_row(shared, 50, 0), asio::use_future));
        (void)results.front().wait_for(std::chrono::milliseconds(5 + round));
        asio::co_spawn(pool, owner.close(), asio::use_future).get();
        for (auto& result : results) EXPECT_THROW((void)result.get(), std::system_error);
        EXPECT_TRUE(own_commands().empty());
        pool.join();
    }
}

TEST_F(Threads, TheRuntimeOrItsContextGoesWhileOthersStart) {
    for (int round = 0; round < rounds(10); ++round) {
        std::optional<asio::thread_pool> pool(std::in_place, 3);
        std::optional<Runtime> owner(std::in_place, pool->get_executor());
        const auto shared = local_executor(*owner);
        for (int i = 0; i < 3; ++i) {  // the pool owns them: it joins, or destroys what it has not run
            asio::co_spawn(asio::make_strand(*pool), failures_in_a_row(shared, 50, 0), asio::detached);
            asio::co_spawn(asio::make_strand(*pool), failed_copies(shared, scratch() / std::to_string(i), 50),
                           asio::detached);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + round * 7 % 30));  // wherever they are by then
        if (round % 2 == 0) {
            owner.reset();
            pool->join();
        } else {
            pool->stop();
        }
        pool.reset();
        owner.reset();
        EXPECT_TRUE(eventually([this] { return own_processes().empty(); })) << round;
    }
}

}  // namespace
}  // namespace sandpipe::testing
