#include "process/limited_output.hpp"

#include <gtest/gtest.h>

namespace sandpipe::detail {
namespace {

OutputLimit limit(std::uint64_t bytes, OnOverflow on_overflow) { return {bytes, on_overflow}; }

/// Feeds `text` in pieces of `piece` bytes.
void feed(LimitedOutput& output, std::string_view text, std::size_t piece) {
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
        output.keep(text.substr(0, piece));
}

void expect_facts(const StreamFacts& facts, std::uint64_t bytes, std::uint64_t kept) {
    EXPECT_EQ(facts.bytes, bytes);
    EXPECT_EQ(facts.kept, kept);
    EXPECT_EQ(facts.truncated, kept < bytes);
}

TEST(LimitedOutput, WithoutALimitKeepsEverything) {
    LimitedOutput output({});
    feed(output, std::string(100'000, 'x'), 777);
    EXPECT_FALSE(output.overflowed());
    expect_facts(output.facts(), 100'000, 100'000);
    EXPECT_EQ(output.take().size(), 100'000U);
}

TEST(LimitedOutput, StopIsExactForEveryLengthAndPiece) {
    const std::string text = "0123456789abcdef";
    for (std::uint64_t bytes = 0; bytes <= text.size() + 1; ++bytes)
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            LimitedOutput output(limit(bytes, OnOverflow::stop));
            feed(output, text, piece);
            const auto kept = std::min<std::uint64_t>(bytes, text.size());
            EXPECT_EQ(output.overflowed(), bytes < text.size());
            expect_facts(output.facts(), text.size(), kept);
            EXPECT_EQ(output.take(), text.substr(0, kept));
        }
}

TEST(LimitedOutput, HeadAndTailAreExactForEveryLengthAndPiece) {
    const std::string text = "0123456789abcdef";
    for (std::uint64_t bytes = 0; bytes <= text.size() + 1; ++bytes)
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            LimitedOutput output(limit(bytes, OnOverflow::keep_head_and_tail));
            feed(output, text, piece);
            EXPECT_FALSE(output.overflowed());
            const std::size_t tail = bytes / 2;
            const std::string expected =
                bytes >= text.size() ? text : text.substr(0, bytes - tail) + text.substr(text.size() - tail);
            expect_facts(output.facts(), text.size(), expected.size());
            EXPECT_EQ(output.take(), expected) << bytes << " by " << piece;
        }
}

TEST(LimitedOutput, TheTailOfVeryMuchStaysSmall) {
    LimitedOutput output(limit(10, OnOverflow::keep_head_and_tail));
    for (int i = 0; i < 10'000; ++i) output.keep("line " + std::to_string(i) + "\n");
    EXPECT_EQ(output.take(), "line 9999\n");
}

TEST(LimitedOutput, AdmitGivesTheHeadForAStream) {
    LimitedOutput output(limit(5, OnOverflow::stop));
    EXPECT_EQ(output.admit("abc"), "abc");
    EXPECT_FALSE(output.overflowed());
    EXPECT_EQ(output.admit("defg"), "de");
    EXPECT_TRUE(output.overflowed());
    EXPECT_EQ(output.admit("h"), "");
    expect_facts(output.facts(), 8, 5);
}

}  // namespace
}  // namespace sandpipe::detail
