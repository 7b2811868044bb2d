#include <sandpipe/sandpipe.hpp>

#include <asio/co_spawn.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>

#include <future>
#include <vector>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Enforcer = std::shared_ptr<SandboxEnforcer>;

/// One session used from many threads at once, without the fixture's own loop.
class SandboxThreads : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w");
        seal();
    }
    void TearDown() override {
        pool_->join();
        pool_.reset();  // its descriptors are not the library's
        SandboxTest::TearDown();
    }

    [[nodiscard]] SrtEnforcerOptions options() const {
        SrtEnforcerOptions options;
        options.policy = writable();
        options.workspace = at("w");
        return options;
    }

    template <typename T>
    std::future<T> spawn(awaitable<T> work) {
        return asio::co_spawn(asio::make_strand(*pool_), std::move(work), asio::use_future);
    }
    [[nodiscard]] asio::any_io_executor threads() { return pool_->get_executor(); }

  private:
    std::unique_ptr<asio::thread_pool> pool_ = std::make_unique<asio::thread_pool>(4);
};

awaitable<int> wrong_results(std::shared_ptr<BinaryExecutor> executor, Enforcer enforcer, int count) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        BinaryInvocation line = enforcer->shell("echo " + std::to_string(i) + "; exit 3");
        BinaryInvocation wrapped = co_await enforcer->wrap(std::move(line));
        const BinaryExecResult result = co_await executor->exec(std::move(wrapped));
        wrong += result.exit_code != 3 || result.out != std::to_string(i);
    }
    co_return wrong;
}

awaitable<std::size_t> denials_seen(Enforcer enforcer, int count) {
    std::size_t denials = 0;
    for (int i = 0; i < count; ++i) {
        CommandStream stream = co_await enforcer->run(enforcer->shell("mkdir /etc/sandpipe-threads; echo done"));
        while (const auto event = co_await stream.next()) denials += std::holds_alternative<Denial>(*event);
    }
    co_return denials;
}

TEST_F(SandboxThreads, OneSessionServesThemAll) {
    Runtime runtime(threads());
    const Enforcer enforcer = spawn(srt_enforcer(runtime, options())).get();
    const auto executor = local_executor(runtime);
    std::vector<std::future<int>> results;
    std::vector<std::future<std::size_t>> denials;
    for (int i = 0; i < 4; ++i) {
        results.push_back(spawn(wrong_results(executor, enforcer, rounds(10))));
        denials.push_back(spawn(denials_seen(enforcer, rounds(10))));
    }
    for (auto& result : results) EXPECT_EQ(result.get(), 0);
    for (auto& count : denials) EXPECT_EQ(count.get(), static_cast<std::size_t>(rounds(10)));
    spawn(runtime.close()).get();
}

awaitable<bool> runs_until_closed(Enforcer enforcer) {
    for (int i = 0; i < 10'000; ++i) {
        try {
            CommandStream stream = co_await enforcer->run(enforcer->shell("sleep 5"));
            const CommandResult result = co_await stream.finish();
            if (result.cause == Cause::finished) co_return false;
        } catch (const Error& error) {
            co_return error.errc() == Errc::sandbox_not_initialized;
        }
    }
    co_return false;
}

TEST_F(SandboxThreads, SessionsCloseWhileOthersStart) {
    Runtime runtime(threads());
    for (int round = 0; round < rounds(3); ++round) {
        const Enforcer enforcer = spawn(srt_enforcer(runtime, options())).get();
        std::vector<std::future<bool>> ends;
        for (int i = 0; i < 4; ++i) ends.push_back(spawn(runs_until_closed(enforcer)));
        spawn(enforcer->close()).get();
        for (auto& end : ends) EXPECT_TRUE(end.get());
    }
    spawn(runtime.close()).get();
}

/// How many commands neither ran to their end nor were cancelled, until the session is closed.
awaitable<int> lost_until_closed(Enforcer enforcer) {
    int lost = 0;
    for (;;) {
        try {
            CommandStream stream = co_await enforcer->run(command("true"));
            const CommandResult result = co_await stream.finish();
            lost += result.cause != Cause::finished && result.cause != Cause::cancelled;
        } catch (const Error& error) {
            co_return error.errc() == Errc::sandbox_not_initialized ? lost : lost + 1;
        }
    }
}

TEST_F(SandboxThreads, WhatStartsBesideCloseIsCancelledOrRefused) {
    Runtime runtime(threads());
    for (int round = 0; round < rounds(40); ++round) {
        const Enforcer enforcer = spawn(srt_enforcer(runtime, options())).get();
        std::vector<std::future<int>> starters;
        for (int i = 0; i < 8; ++i) starters.push_back(spawn(lost_until_closed(enforcer)));
        (void)starters.front().wait_for(std::chrono::milliseconds(round % 7));
        spawn(enforcer->close()).get();
        for (auto& starter : starters) EXPECT_EQ(starter.get(), 0);
    }
    spawn(runtime.close()).get();
}

}  // namespace
}  // namespace sandpipe::testing
