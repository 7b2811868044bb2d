#include "sandbox/network/lookup_queue.hpp"

#include <gtest/gtest.h>

#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <poll.h>

#include <chrono>
#include <future>
#include <optional>
#include <system_error>

#include "sandbox/network/resolver.hpp"

namespace sandpipe {
namespace {

using Addresses = std::vector<IpAddress>;
using namespace std::chrono_literals;

/// A name server: "slow" names wait until it answers them, "none" has no address.
class SlowNames {
  public:
    LookupQueue::Function function() {
        return [gate = opened_, begun = begun_](const std::string& name) -> Addresses {
            ++*begun;
            if (name.starts_with("slow")) gate.wait();
            if (name == "none") throw std::system_error(asio::error::host_not_found);
            return {*IpAddress::parse("192.0.2.1")};
        };
    }
    void answer() { gate_.set_value(); }
    [[nodiscard]] int begun() const { return begun_->load(); }
    void await_begun(int count) const {
        while (begun() < count) std::this_thread::yield();
    }

  private:
    std::promise<void> gate_;
    std::shared_future<void> opened_ = gate_.get_future();
    std::shared_ptr<std::atomic<int>> begun_ = std::make_shared<std::atomic<int>>(0);
};

std::shared_ptr<Lookup> add(LookupQueue& queue, const std::string& name) {
    auto lookup = std::make_shared<Lookup>(name);
    queue.add(lookup);
    return lookup;
}

void await_done(const Lookup& lookup) {
    pollfd event{lookup.event(), POLLIN, 0};
    ASSERT_EQ(::poll(&event, 1, 60000), 1);
    EXPECT_TRUE(lookup.done());
}

TEST(LookupQueue, AnswersAndErrors) {
    SlowNames names;
    LookupQueue queue(names.function());
    const auto found = add(queue, "a");
    const auto none = add(queue, "none");
    await_done(*found);
    await_done(*none);
    EXPECT_EQ(found->addresses().at(0).text(), "192.0.2.1");
    EXPECT_THROW((void)none->addresses(), std::system_error);
}

TEST(LookupQueue, NamesThatNobodyAnswersHoldUpNoOtherQueue) {
    SlowNames names;
    LookupQueue crowded(names.function(), 2);
    LookupQueue other(names.function(), 2);
    std::vector<std::shared_ptr<Lookup>> slow;
    for (int i = 0; i < 100; ++i) slow.push_back(add(crowded, "slow"));
    names.await_begun(2);
    await_done(*add(other, "a"));
    EXPECT_EQ(names.begun(), 3) << "no more than two of a queue at once";
    EXPECT_FALSE(slow[0]->done());
    names.answer();
    for (const auto& lookup : slow) await_done(*lookup);
}

TEST(LookupQueue, WhatNobodyWaitsForNeverBegins) {
    SlowNames names;
    LookupQueue queue(names.function(), 1);
    const auto first = add(queue, "slow");
    names.await_begun(1);
    for (int i = 0; i < 10; ++i) queue.drop(add(queue, "dropped"));
    queue.drop(first);
    const auto last = add(queue, "last");
    names.answer();
    await_done(*last);
    EXPECT_EQ(names.begun(), 2);
}

TEST(LookupQueue, MayGoBeforeItsThreads) {
    SlowNames names;
    std::shared_ptr<Lookup> begun;
    std::shared_ptr<Lookup> waiting;
    {
        LookupQueue queue(names.function(), 1);
        begun = add(queue, "slow");
        names.await_begun(1);
        waiting = add(queue, "waiting");
    }
    names.answer();
    await_done(*begun);
    EXPECT_FALSE(waiting->done());
    EXPECT_EQ(names.begun(), 1);
}

/// What became of a name, in the words of its error.
awaitable<std::string> ask(std::shared_ptr<Resolver> resolver, std::string name) {
    try {
        const Addresses found = co_await resolver->resolve(std::move(name));
        co_return found.empty() ? "nothing" : found.front().text();
    } catch (const std::system_error& error) {
        co_return error.code() == asio::error::operation_aborted ? "aborted" : error.code().message();
    }
}

std::string asked(const std::shared_ptr<Resolver>& resolver, const std::string& name) {
    asio::io_context context;
    std::string answer;
    asio::co_spawn(context, ask(resolver, name), [&](const std::exception_ptr&, std::string text) { answer = text; });
    context.run_for(60s);
    return answer;
}

TEST(Resolver, FindsAndDoesNotFind) {
    SlowNames names;
    const auto resolver = resolver_by(names.function());
    EXPECT_EQ(asked(resolver, "a"), "192.0.2.1");
    EXPECT_EQ(asked(resolver, "none"), std::error_code(asio::error::host_not_found).message());
    EXPECT_EQ(asked(system_resolver(), "127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(asked(system_resolver(), "::1"), "::1");
}

TEST(Resolver, ACancellationEndsTheWaitAtOnce) {
    using asio::experimental::awaitable_operators::operator||;
    SlowNames names;
    const auto resolver = resolver_by(names.function());
    asio::io_context context;
    std::optional<std::size_t> first;
    auto work = [&]() -> awaitable<void> {
        asio::steady_timer timer(context, 50ms);
        const auto ended = co_await (ask(resolver, "slow") || timer.async_wait(asio::use_awaitable));
        first = ended.index();
    };
    asio::co_spawn(context, work, [](const std::exception_ptr&) {});
    context.run_for(60s);
    EXPECT_EQ(first, 1U);
    names.answer();
}

// At each step of a lookup: a thread that is still at it finds all that it uses.
TEST(Resolver, TheContextMayGoFirst) {
    for (std::size_t steps = 0; steps < 8; ++steps) {
        SlowNames names;
        std::shared_ptr<Resolver> kept;
        {
            const auto resolver = resolver_by(names.function());
            asio::io_context context;
            for (const char* name : {"slow", "a", "slow", "slow", "slow", "slow"})
                asio::co_spawn(context, ask(resolver, name), [](const std::exception_ptr&, const std::string&) {});
            for (std::size_t i = 0; i < steps; ++i) context.poll_one();
            kept = resolver;
        }
        EXPECT_EQ(kept.use_count(), 1) << "no coroutine is left that uses it";
        names.answer();
    }
}

}  // namespace
}  // namespace sandpipe
