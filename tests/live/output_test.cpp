#include <gmock/gmock.h>

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <array>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t resident_bytes() {
    std::size_t pages = 0;
    std::size_t resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (!file || std::fscanf(file, "%zu %zu", &pages, &resident) != 2) resident = 0;
    if (file) std::fclose(file);
    return resident * 4096;
}

awaitable<std::vector<OutputEvent>> all_events(CommandStream& stream) {
    std::vector<OutputEvent> events;
    while (auto event = co_await stream.next()) events.push_back(std::move(*event));
    co_return events;
}

std::string text_of(const std::vector<OutputEvent>& events, StreamTag tag) {
    std::string text;
    for (const OutputEvent& event : events)
        if (const auto* chunk = std::get_if<OutputChunk>(&event); chunk && chunk->stream == tag)
            text += chunk->data;
    return text;
}

/// "o" and "e" by chunk, in the order in which they came; neighbours of one stream count once.
std::string order_of(const std::vector<OutputEvent>& events) {
    std::string order;
    for (const OutputEvent& event : events)
        if (const auto* chunk = std::get_if<OutputChunk>(&event))
            if (const char sign = chunk->stream == StreamTag::err ? 'e' : 'o'; !order.ends_with(sign))
                order += sign;
    return order;
}

class OutputOrder : public ProcessFixture {
  protected:
    std::vector<OutputEvent> events_of(BinaryInvocation invocation) {
        CommandStream stream = start(std::move(invocation));
        return run(all_events(stream), 60s);
    }
    awaitable<std::vector<OutputEvent>> taken_slowly(CommandStream& stream) {
        std::vector<OutputEvent> events;
        while (auto event = co_await stream.next()) {
            events.push_back(std::move(*event));
            co_await pause(2ms);
        }
        co_return events;
    }
    awaitable<void> pause(std::chrono::milliseconds time) {
        asio::steady_timer timer(io(), time);
        co_await timer.async_wait(asio::use_awaitable);
    }
};

TEST_F(OutputOrder, EventsAreNumberedAndTheLastOneIsFinished) {
    const auto events = events_of(sh("echo a; echo b >&2; exit 3"));
    std::uint64_t expected = 1;
    std::chrono::nanoseconds last{};
    for (const OutputEvent& event : events)
        std::visit(
            [&](const auto& value) {
                EXPECT_EQ(value.seq, expected++);
                if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, Warning>) {
                    EXPECT_GE(value.time, last);
                    last = value.time;
                }
            },
            event);
    ASSERT_FALSE(events.empty());
    const auto* finished = std::get_if<Finished>(&events.back());
    ASSERT_NE(finished, nullptr);
    EXPECT_EQ(finished->result.exit_code, 3);
    EXPECT_EQ(finished->result.out_facts.bytes, 2U);
    EXPECT_EQ(finished->result.marker.size(), 12U);
    EXPECT_TRUE(finished->result.denials.empty());
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsFreedMemory = true;
#else
constexpr bool kKeepsFreedMemory = false;
#endif

awaitable<std::uint64_t> count_bytes(CommandStream& stream, std::size_t& most_resident) {
    std::uint64_t bytes = 0;
    while (auto event = co_await stream.next()) {
        if (const auto* chunk = std::get_if<OutputChunk>(&*event)) bytes += chunk->data.size();
        most_resident = std::max(most_resident, resident_bytes());
    }
    co_return bytes;
}

TEST_F(OutputOrder, AHundredMegabytesPassInFlatMemory) {
    CommandStream stream = start(command("head").args("-c", "100000000", "/dev/zero"));
    const std::size_t before = resident_bytes();
    std::size_t most = 0;
    constexpr std::size_t bytes_in_all = 100'000'000;
    EXPECT_EQ(run(count_bytes(stream, most), 60s), bytes_in_all);
    if (kKeepsFreedMemory)
        std::cout << "the bound on memory is not judged: AddressSanitizer keeps freed memory, to find its use\n";
    else {
        EXPECT_LT(most, before + 16U * 1024 * 1024);
    }
}

TEST_F(OutputOrder, AConsumerThatComesLateHoldsTheCommandUpAndLosesNothing) {
    CommandStream stream = start(command("head").args("-c", "100000000", "/dev/zero"));
    const std::size_t before = resident_bytes();
    run(pause(1s));
    EXPECT_LT(resident_bytes(), before + 8U * 1024 * 1024) << "read ahead without a bound";
    EXPECT_FALSE(own_commands().empty()) << "the command must wait for its reader";
    std::size_t most = 0;
    constexpr std::size_t bytes_in_all = 100'000'000;
    EXPECT_EQ(run(count_bytes(stream, most), 60s), bytes_in_all);
}

TEST_F(OutputOrder, AFloodOfOneStreamDoesNotKeepTheOtherOutOfTheQueue) {
    CommandStream stream = start(sh("head -c 20000000 /dev/zero & sleep .3; echo e >&2; wait"));
    run(pause(1s));
    const auto events = run(taken_slowly(stream), 60s);
    const auto complaint = std::find_if(events.begin(), events.end(), [](const OutputEvent& event) {
        const auto* chunk = std::get_if<OutputChunk>(&event);
        return chunk && chunk->stream == StreamTag::err;
    });
    ASSERT_NE(complaint, events.end());
    EXPECT_LT(text_of({events.begin(), complaint}, StreamTag::out).size(), 4'000'000U);
    EXPECT_EQ(text_of(events, StreamTag::out).size(), 20'000'000U);
}

TEST_F(OutputOrder, OrderOfArrivalDoesNotDependOnWhenTheConsumerAsks) {
    const std::filesystem::path done = scratch() / "done";
    const auto begin = Clock::now();
    CommandStream stream =
        start(sh("for i in 1 2 3; do echo o; sleep .1; echo e >&2; sleep .1; done; touch " + done.string()));
    ASSERT_TRUE(drive_until([&] { return std::filesystem::exists(done); }));
    const auto written = Clock::now() - begin;
    run(pause(200ms));
    const auto events = run(all_events(stream));
    EXPECT_EQ(order_of(events), "oeoeoe");
    for (const OutputEvent& event : events) {
        const auto* chunk = std::get_if<OutputChunk>(&event);
        EXPECT_TRUE(!chunk || chunk->time < written) << "the time of arrival, not of the question";
    }
}

TEST_F(OutputOrder, TaggedOrderIsExactAtTwoMilliseconds) {
    const BinaryInvocation alternating = sh(
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
        "echo o; sleep .002; echo e >&2; sleep .002; done");
    std::string expected;
    for (int i = 0; i < 20; ++i) expected += "oe";
    // A host that gets no processor for longer than that finds both pipes readable.
    std::string order;
    for (int attempt = 0; attempt < 50 && order != expected; ++attempt) order = order_of(events_of(alternating));
    EXPECT_EQ(order, expected);
}

TEST_F(OutputOrder, MergedOrderIsExactWithoutAnyPause) {
    const BinaryInvocation alternating =
        sh("i=0; while [ $i -lt 50 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done").order(Order::merged);
    std::string expected;
    for (int i = 0; i < 50; ++i) expected += "o" + std::to_string(i) + "\ne" + std::to_string(i) + "\n";
    const auto events = events_of(alternating);
    EXPECT_EQ(text_of(events, StreamTag::merged), expected);
    EXPECT_EQ(text_of(events, StreamTag::out) + text_of(events, StreamTag::err), "");
    const BinaryExecResult settled = exec(alternating);
    EXPECT_EQ(settled.out + "\n", expected);
    EXPECT_EQ(settled.err, "");
}

TEST_F(OutputOrder, ChunksComeWhenTheyAreWritten) {
    for (const OutputEvent& event : events_of(sh("for i in 0 1 2; do echo $i; sleep .7; done"))) {
        const auto* chunk = std::get_if<OutputChunk>(&event);
        if (!chunk) continue;
        const auto written = std::chrono::milliseconds(700) * std::stoi(chunk->data);
        EXPECT_GE(chunk->time, written);
        EXPECT_LT(chunk->time, written + 700ms) << "before the next is written";
    }
}

TEST_F(OutputOrder, TheLastBytesOfFastCommandsAreNeverLost) {
    for (int i = 0; i < rounds(400); ++i) {
        const BinaryExecResult result = exec(sh("echo e >&2; echo o"));
        ASSERT_EQ(result.out + result.err, "oe") << i;
    }
}

awaitable<std::uint64_t> count_slowly(CommandStream& stream) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    std::uint64_t bytes = 0;
    while (auto event = co_await stream.next()) {
        if (const auto* chunk = std::get_if<OutputChunk>(&*event)) bytes += chunk->data.size();
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return bytes;
}

TEST_F(OutputOrder, ASlowReaderGetsAllOfIt) {
    CommandStream stream = start(command("head").args("-c", "4000000", "/dev/zero"));
    EXPECT_EQ(run(count_slowly(stream), 60s), 4'000'000U);
}

TEST_F(OutputOrder, BytesThatAreLeftAtTheExitOutliveAPauseOfTheReader) {
    // The command has gone while a full queue still waits, and something else holds the pipe.
    CommandStream stream = start(sh("sleep 5 & head -c 300000 /dev/zero; exit 7"));
    run(pause(1500ms));
    const auto events = run(all_events(stream));
    EXPECT_EQ(text_of(events, StreamTag::out).size(), 300'000U);
    const auto& result = std::get<Finished>(events.back()).result;
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_TRUE(result.pipe_held_open);
    for (const pid_t pid : own_commands()) ::kill(pid, SIGKILL);
}

/// At most `most`, or as many as there are in that time.
awaitable<int> beats(int most, std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    int count = 0;
    for (const auto end = Clock::now() + time; count < most && Clock::now() < end; ++count) {
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return count;
}

TEST_F(OutputOrder, TheLoopStaysAwakeUnderOutputAndInputWithoutEnd) {
    asio::co_spawn(io(),
                   executor()->exec(command("yes").timeout(10s).limit(
                       OutputLimit{1000, OnOverflow::keep_head_and_tail})),
                   [](std::exception_ptr, BinaryExecResult) {});
    asio::co_spawn(io(),
                   executor()->exec(command("cat")
                                        .timeout(10s)
                                        .out(Output::discard())
                                        .input(Input::bytes(std::string(100 << 20, 'x')))),
                   [](std::exception_ptr, BinaryExecResult) {});
    EXPECT_EQ(run(beats(16, 8s)), 16);
}

TEST_F(OutputOrder, NextGivesNothingAfterTheEnd) {
    CommandStream stream = start(command("true"));
    (void)run(all_events(stream));
    EXPECT_FALSE(run(stream.next()).has_value());
    EXPECT_EQ(run(stream.finish()).exit_code, 0);
    EXPECT_EQ(run(stream.finish()).exit_code, 0);
}

TEST_F(OutputOrder, FinishPassesOverWhatIsLeft) {
    CommandStream stream = start(command("head").args("-c", "3000000", "/dev/zero"));
    const CommandResult result = run(stream.finish());
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out_facts.bytes, 3'000'000U);
}

TEST_F(OutputOrder, AStreamThatDidNotStartHasOnlyItsEnd) {
    CommandStream stream = start(command("/no/such/program"));
    EXPECT_FALSE(stream.started());
    const auto events = run(all_events(stream));
    ASSERT_EQ(events.size(), 1U);
    const auto& result = std::get<Finished>(events.front()).result;
    EXPECT_EQ(result.cause, Cause::not_started);
    EXPECT_TRUE(std::holds_alternative<NotStarted>(result.status));
}

TEST_F(OutputOrder, StreamsHaveMarkersAndNumbersOfTheirOwn) {
    CommandStream first = start(command("true"));
    CommandStream second = start(command("true"));
    EXPECT_NE(first.marker(), second.marker());
    EXPECT_EQ(first.marker().find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_LT(first.id(), second.id());
    EXPECT_EQ(run(first.finish()).marker, first.marker());
    (void)run(second.finish());
}

}  // namespace
}  // namespace sandpipe::testing
