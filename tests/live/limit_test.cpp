#include <gmock/gmock.h>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

class Limit : public ProcessFixture {
  protected:
    static BinaryInvocation limited(const std::string& line, std::uint64_t bytes, OnOverflow on_overflow) {
        return sh(line).limit(OutputLimit{bytes, on_overflow});
    }
    BinaryExecResult raw(BinaryInvocation invocation) {
        LocalExecutorOptions options;
        options.strip_final_newline = false;
        return run(local_executor(runtime(), options)->exec(std::move(invocation)));
    }
};

TEST_F(Limit, IsExactToTheByte) {
    for (const std::uint64_t size : {0U, 1U, 9U, 10U}) {
        const BinaryExecResult within =
            raw(limited("head -c " + std::to_string(size) + " /dev/zero", 10, OnOverflow::stop));
        EXPECT_EQ(within.cause, Cause::finished) << size;
        EXPECT_EQ(within.out.size(), size);
        EXPECT_FALSE(within.out_facts.truncated);
    }
    const BinaryExecResult over = raw(limited("printf 0123456789X; sleep 10", 10, OnOverflow::stop));
    EXPECT_EQ(over.cause, Cause::output_limit);
    EXPECT_TRUE(over.failed);
    EXPECT_EQ(over.out, "0123456789");
    EXPECT_TRUE(over.out_facts.truncated);
    EXPECT_EQ(over.out_facts.bytes, 11U);
    EXPECT_EQ(over.out_facts.kept, 10U);
    EXPECT_LT(over.wall, 8s) << "it would have slept for ten";
}

TEST_F(Limit, StopsAWriterWithoutEnd) {
    const BinaryExecResult result = raw(limited("yes", 100'000, OnOverflow::stop));
    EXPECT_EQ(result.cause, Cause::output_limit);
    EXPECT_EQ(result.out.size(), 100'000U);
    EXPECT_FALSE(result.forced);
}

TEST_F(Limit, HoldsForEachStream) {
    const BinaryExecResult result =
        raw(limited("printf out; head -c 1000 /dev/zero >&2; sleep 10", 100, OnOverflow::stop));
    EXPECT_EQ(result.cause, Cause::output_limit);
    EXPECT_EQ(result.out, "out");
    EXPECT_FALSE(result.out_facts.truncated);
    EXPECT_EQ(result.err.size(), 100U);
    EXPECT_TRUE(result.err_facts.truncated);
}

TEST_F(Limit, ExceededAtTheLastMomentStillCounts) {
    const BinaryExecResult result = raw(limited("head -c 20 /dev/zero", 10, OnOverflow::stop));
    EXPECT_EQ(result.out.size(), 10U);
    EXPECT_TRUE(result.out_facts.truncated);
    EXPECT_TRUE(result.failed) << "output is missing, and the caller asked to be told";
    EXPECT_EQ(result.cause, Cause::output_limit);
}

TEST_F(Limit, KeepsHeadAndTailAndRunsOn) {
    const BinaryExecResult result = raw(
        limited("printf head; head -c 1000000 /dev/zero; printf tail", 8, OnOverflow::keep_head_and_tail));
    EXPECT_EQ(result.cause, Cause::finished);
    EXPECT_FALSE(result.failed);
    EXPECT_EQ(result.out, "headtail");
    EXPECT_EQ(result.out_facts.bytes, 1'000'008U);
    EXPECT_EQ(result.out_facts.kept, 8U);
    EXPECT_TRUE(result.out_facts.truncated);
}

TEST_F(Limit, WhatJustFitsIsWhole) {
    const BinaryExecResult result = raw(limited("printf 01234567", 8, OnOverflow::keep_head_and_tail));
    EXPECT_EQ(result.out, "01234567");
    EXPECT_FALSE(result.out_facts.truncated);
    EXPECT_EQ(raw(limited("printf 012345678", 8, OnOverflow::keep_head_and_tail)).out, "01235678");
    EXPECT_EQ(raw(limited("printf 0123456789", 7, OnOverflow::keep_head_and_tail)).out, "0123789");
}

TEST_F(Limit, OfZeroKeepsNothing) {
    EXPECT_EQ(raw(limited("true", 0, OnOverflow::stop)).cause, Cause::finished);
    EXPECT_EQ(raw(limited("echo x; sleep 10", 0, OnOverflow::stop)).cause, Cause::output_limit);
    const BinaryExecResult kept = raw(limited("echo x", 0, OnOverflow::keep_head_and_tail));
    EXPECT_EQ(kept.out, "");
    EXPECT_EQ(kept.out_facts.bytes, 2U);
    EXPECT_TRUE(kept.out_facts.truncated);
}

TEST_F(Limit, TheDefaultIsTenMebibytesAStream) {
    EXPECT_EQ(raw(sh("head -c 10485760 /dev/zero")).cause, Cause::finished);
    const BinaryExecResult over = raw(sh("head -c 10485761 /dev/zero; sleep 10"));
    EXPECT_EQ(over.cause, Cause::output_limit);
    EXPECT_EQ(over.out.size(), 10'485'760U);
}

TEST_F(Limit, AStreamHasOneWhenAskedFor) {
    CommandStream stream = start(limited("printf 0123456789X; sleep 10", 10, OnOverflow::stop));
    std::string text;
    std::optional<CommandResult> result;
    while (auto event = run(stream.next())) {
        if (const auto* chunk = std::get_if<OutputChunk>(&*event)) text += chunk->data;
        if (auto* finished = std::get_if<Finished>(&*event)) result = std::move(finished->result);
    }
    EXPECT_EQ(text, "0123456789");
    ASSERT_TRUE(result);
    EXPECT_EQ(result->cause, Cause::output_limit);
    EXPECT_EQ(result->out_facts.bytes, 11U);
    EXPECT_EQ(result->out_facts.kept, 10U);
}

TEST_F(Limit, OfMergedOutputCountsBothTogether) {
    const BinaryExecResult result =
        raw(limited("printf 12345; printf 67890 >&2; printf X; sleep 10", 10, OnOverflow::stop)
                .order(Order::merged));
    EXPECT_EQ(result.cause, Cause::output_limit);
    EXPECT_EQ(result.out, "1234567890");
}

}  // namespace
}  // namespace sandpipe::testing
