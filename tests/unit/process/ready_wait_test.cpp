#include "process/ready_wait.hpp"

#include <gtest/gtest.h>
#include <sandpipe/error.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>

#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "process/aside.hpp"
#include "sys/descriptors.hpp"

namespace sandpipe::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// One wait for the end of a pipe, and what came of it.
class ReadyWait : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(sys::make_pipe(pipe_), 0); }

    void begin(std::function<bool(int)> reached, std::chrono::nanoseconds limit) {
        asio::co_spawn(
            context_, wait_until_ready(context_.get_executor(), std::move(pipe_.read_end), std::move(reached), limit),
            asio::bind_cancellation_slot(signal_.slot(), [this](std::exception_ptr error, bool in_time) {
                error_ = std::move(error);
                if (!error_) in_time_ = in_time;
            }));
    }

    asio::io_context context_;
    asio::cancellation_signal signal_;
    sys::Pipe pipe_;
    std::optional<bool> in_time_;
    std::exception_ptr error_;
};

TEST_F(ReadyWait, ReadinessAloneIsNotWhatIsWaitedFor) {
    pipe_.write_end.reset();
    int looks = 0;
    begin([&looks](int) { return ++looks == 4; }, seconds(60));
    context_.run();
    EXPECT_EQ(looks, 4);
    EXPECT_EQ(in_time_, true);
}

TEST_F(ReadyWait, TakesNoLongerThanItsLimit) {
    begin([](int) { return true; }, milliseconds(10));
    context_.run();
    EXPECT_EQ(in_time_, false);
}

TEST_F(ReadyWait, WhatNeverComesTrueIsGivenUpToo) {
    pipe_.write_end.reset();
    begin([](int) { return false; }, milliseconds(10));
    context_.run();
    EXPECT_EQ(in_time_, false);
}

TEST_F(ReadyWait, IsCancelled) {
    begin([](int) { return true; }, seconds(60));
    context_.poll();
    signal_.emit(asio::cancellation_type::terminal);
    context_.run();
    ASSERT_TRUE(error_);
    EXPECT_THROW(std::rethrow_exception(error_), std::system_error);
}

TEST(AbandonedWait, KeepsNothing) {
    for (std::size_t steps = 0; steps < 4; ++steps) {
        const auto token = std::make_shared<int>();
        sys::Pipe pipe;
        ASSERT_EQ(sys::make_pipe(pipe), 0);
        {
            asio::io_context context;
            std::function<bool(int)> reached = [token](int) { return true; };
            asio::co_spawn(
                context,
                wait_until_ready(context.get_executor(), std::move(pipe.read_end), std::move(reached), seconds(60)),
                [](const std::exception_ptr&, bool) {});
            for (std::size_t i = 0; i < steps; ++i) context.poll_one();
        }
        EXPECT_EQ(token.use_count(), 1) << steps;
    }
}

class Aside : public ::testing::Test {
  protected:
    /// The code of what it threw; none if it threw nothing.
    std::error_code run(std::function<void()> work, std::chrono::nanoseconds limit) {
        asio::io_context context;
        std::error_code code;
        asio::co_spawn(context, run_aside(context.get_executor(), std::move(work), limit, "late"),
                       [&code](const std::exception_ptr& error) {
                           try {
                               if (error) std::rethrow_exception(error);
                           } catch (const std::system_error& thrown) {
                               code = thrown.code();
                           }
                       });
        context.run();
        return code;
    }
};

TEST_F(Aside, IsDoneOnAnotherThreadBeforeTheWaitEnds) {
    std::thread::id thread;
    EXPECT_EQ(run([&thread] { thread = std::this_thread::get_id(); }, seconds(60)), std::error_code());
    EXPECT_NE(thread, std::thread::id());
    EXPECT_NE(thread, std::this_thread::get_id());
}

TEST_F(Aside, ThrowsWhatTheWorkThrows) {
    const auto code = std::make_error_code(std::errc::io_error);
    EXPECT_EQ(run([code] { throw std::system_error(code); }, seconds(60)), code);
}

TEST_F(Aside, IsLeftToItselfWhenItIsLate) {
    sys::Pipe pipe;
    ASSERT_EQ(sys::make_pipe(pipe), 0);
    auto end = std::make_shared<unique_fd>(std::move(pipe.read_end));
    const auto hang = [end] {
        char byte;
        (void)!::read(end->get(), &byte, 1);
    };
    EXPECT_EQ(run(hang, milliseconds(10)), make_error_code(Errc::sandbox_failed));
    pipe.write_end.reset();
}

}  // namespace
}  // namespace sandpipe::detail
