#include "process/output_sequencer.hpp"

#include <gtest/gtest.h>

namespace sandpipe::detail {
namespace {

using namespace std::chrono_literals;

Denial denial(const std::string& path) {
    Denial made;
    made.path = path;
    return made;
}

/// What is ready, as "out:ab !path ?warning err:c end"; checks that numbers have no gaps.
std::string drain(OutputSequencer& sequencer, std::uint64_t first = 1) {
    std::string text;
    while (!sequencer.empty()) {
        const OutputEvent event = sequencer.pop();
        EXPECT_EQ(std::visit([](const auto& value) { return value.seq; }, event), first++);
        if (!text.empty()) text += ' ';
        if (const auto* chunk = std::get_if<OutputChunk>(&event))
            text += (chunk->stream == StreamTag::err   ? "err:"
                     : chunk->stream == StreamTag::out ? "out:"
                                                       : "all:") +
                    chunk->data;
        else if (const auto* denied = std::get_if<Denial>(&event))
            text += "!" + denied->path;
        else
            text += std::holds_alternative<Warning>(event) ? "?" + std::get<Warning>(event).text : "end";
    }
    return text;
}

TEST(OutputSequencer, TimeNeverGoesBack) {
    OutputSequencer sequencer(StreamTag::out);
    Denial earlier = denial("x");
    earlier.time = 1ms;
    sequencer.on_data(0, "ab", 3ms);
    sequencer.on_denial(earlier, {2, 0});
    sequencer.on_data(0, "c", 4ms);
    (void)sequencer.pop();
    EXPECT_EQ(std::get<Denial>(sequencer.pop()).time, 3ms);
    EXPECT_EQ(std::get<OutputChunk>(sequencer.pop()).time, 4ms);
    EXPECT_EQ(sequencer.denials().at(0).time, 3ms);
}

TEST(OutputSequencer, KeepsTheOrderOfArrival) {
    OutputSequencer sequencer(StreamTag::out);
    sequencer.on_data(0, "a", 1ms);
    sequencer.on_data(1, "b", 2ms);
    sequencer.on_data(0, "c", 3ms);
    sequencer.on_data(0, "", 4ms);
    sequencer.on_finished({});
    EXPECT_EQ(drain(sequencer), "out:a err:b out:c end");
}

TEST(OutputSequencer, ADenialStandsWhereItHappened) {
    OutputSequencer sequencer(StreamTag::out);
    sequencer.on_data(0, "ab", 1ms);
    sequencer.on_denial(denial("x"), {4, 0});
    EXPECT_EQ(drain(sequencer), "out:ab");
    sequencer.on_data(0, "cdef", 2ms);
    EXPECT_EQ(drain(sequencer, 2), "out:cd !x out:ef");
}

TEST(OutputSequencer, ADenialWaitsForBothPipes) {
    OutputSequencer sequencer(StreamTag::out);
    sequencer.on_denial(denial("x"), {1, 2});
    sequencer.on_data(0, "abc", 1ms);
    EXPECT_EQ(drain(sequencer), "out:a") << "the rest came after the refused call";
    sequencer.on_data(1, "12345", 2ms);
    EXPECT_EQ(drain(sequencer, 2), "err:12 !x out:bc err:345");
}

TEST(OutputSequencer, DenialsKeepTheirOwnOrder) {
    OutputSequencer sequencer(StreamTag::merged);
    sequencer.on_denial(denial("x"), {2, 0});
    sequencer.on_denial(denial("y"), {2, 0});
    sequencer.on_denial(denial("z"), {3, 0});
    sequencer.on_data(0, "abcd", 1ms);
    EXPECT_EQ(drain(sequencer), "all:ab !x !y all:c !z all:d");
    ASSERT_EQ(sequencer.denials().size(), 3U);
    EXPECT_EQ(sequencer.denials()[2].path, "z");
    EXPECT_EQ(sequencer.denials()[0].seq, 2U);
}

TEST(OutputSequencer, AnEndedPipeIsNotWaitedFor) {
    OutputSequencer sequencer(StreamTag::out);
    sequencer.on_denial(denial("x"), {5, 5});
    sequencer.on_end(0);
    EXPECT_TRUE(sequencer.empty());
    sequencer.on_end(1);
    EXPECT_EQ(drain(sequencer), "!x");
}

TEST(OutputSequencer, NoMoreGivesEveryDenialItsPlace) {
    OutputSequencer sequencer(StreamTag::out);
    sequencer.on_denial(denial("x"), {9, 9});
    sequencer.on_data(0, "a", 1ms);
    sequencer.on_no_more();
    sequencer.on_finished({});
    EXPECT_EQ(drain(sequencer), "out:a !x end");
}

TEST(OutputSequencer, CountsWhatNobodyHasTaken) {
    OutputSequencer sequencer(StreamTag::out);
    const std::string large(100'000, 'a');
    EXPECT_EQ(sequencer.waiting_bytes(), 0U);
    sequencer.on_denial(denial("x"), {large.size(), 0});
    sequencer.on_data(0, large + "bc", 1ms);
    const std::uint64_t all = sequencer.waiting_bytes();
    EXPECT_GE(all, large.size() + 2);
    (void)sequencer.pop();
    EXPECT_LT(sequencer.waiting_bytes(), all - large.size());
    OutputEvent marker = sequencer.pop();
    OutputEvent rest = sequencer.pop();
    EXPECT_EQ(sequencer.waiting_bytes(), 0U);
    sequencer.unpop(std::move(rest));
    EXPECT_GE(sequencer.waiting_bytes(), 2U);
    sequencer.unpop(std::move(marker));
    EXPECT_EQ(drain(sequencer, 2), "!x out:bc") << "put back events keep their numbers";
}

TEST(OutputSequencer, SmallEventsAreCountedWithWhatHoldsThem) {
    OutputSequencer sequencer(StreamTag::out);
    for (int i = 0; i < 1000; ++i) sequencer.on_data(0, "a", 1ms);
    EXPECT_GE(sequencer.waiting_bytes(), 1000 * sizeof(OutputChunk));
}

TEST(OutputSequencer, BytesThatWaitBehindADenialAreCounted) {
    OutputSequencer sequencer(StreamTag::out);
    sequencer.on_denial(denial("x"), {0, 3});
    sequencer.on_data(0, "abcd", 1ms);
    EXPECT_GE(sequencer.waiting_bytes(), 4U) << "they are memory like any other";
}

TEST(OutputSequencer, SaysWhichPipeADenialWaitsFor) {
    OutputSequencer sequencer(StreamTag::out);
    const auto waits = [&] { return std::pair(sequencer.awaits(0), sequencer.awaits(1)); };
    EXPECT_EQ(waits(), std::pair(false, false));
    sequencer.on_denial(denial("x"), {2, 3});
    sequencer.on_denial(denial("y"), {4, 3});
    EXPECT_EQ(waits(), std::pair(true, true));
    sequencer.on_data(0, "ab", 1ms);
    EXPECT_EQ(waits(), std::pair(false, true)) << "what comes after the first is no reason to read on";
    sequencer.on_data(1, "123", 1ms);
    EXPECT_EQ(waits(), std::pair(true, false));
    sequencer.on_end(0);
    EXPECT_EQ(waits(), std::pair(false, false));
    EXPECT_EQ(drain(sequencer), "out:ab err:123 !x !y");
}

TEST(OutputSequencer, WarningsComeAtOnce) {
    OutputSequencer sequencer(StreamTag::out);
    sequencer.on_warning({0, {}, "careful"});
    sequencer.on_data(0, "a", 1ms);
    EXPECT_EQ(drain(sequencer), "?careful out:a");
}

TEST(OutputSequencer, TimesAreThoseOfTheArrival) {
    OutputSequencer sequencer(StreamTag::out);
    sequencer.on_denial(denial("x"), {1, 1});
    sequencer.on_data(0, "ab", 3ms);
    sequencer.on_data(1, "c", 9ms);
    EXPECT_EQ(std::get<OutputChunk>(sequencer.pop()).time, 3ms);
    (void)sequencer.pop();
    (void)sequencer.pop();
    EXPECT_EQ(std::get<OutputChunk>(sequencer.pop()).time, 3ms) << "split, both parts came at once";
}

}  // namespace
}  // namespace sandpipe::detail
