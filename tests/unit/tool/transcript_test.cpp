#include "tool/transcript.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace sandpipe::tool {
namespace {

OutputEvent out(std::string data) {
    OutputChunk chunk;
    chunk.data = std::move(data);
    return chunk;
}

Denial denied(std::string path) {
    Denial denial;
    denial.operation = "open";
    denial.path = std::move(path);
    denial.rule = "r";
    denial.error = EACCES;
    return denial;
}

Finished exited(int code) {
    Finished event;
    event.result.status = Exited{code};
    event.result.exit_code = code;
    event.result.failed = code != 0;
    event.result.cause = Cause::finished;
    event.result.marker = "0";
    return event;
}

Transcript transcript_with(std::size_t limit, SpoolOptions spool = {}) {
    return {CallFacts{"call 1", 42}, "0", limit, std::make_shared<PathRedactor>("/home/ann/app"),
            std::make_shared<SpooledArtifact>(spool)};
}

void take(Transcript& transcript, const OutputEvent& event) {
    transcript.artifact()->append(transcript.take(event));
    if (std::holds_alternative<Finished>(event)) transcript.artifact()->finish();
}

std::set<std::string> keys(const nlohmann::json& object) {
    std::set<std::string> names;
    for (const auto& entry : object.items()) names.insert(entry.key());
    return names;
}

TEST(Transcript, OutputThenASentence) {
    Transcript transcript = transcript_with(1000);
    take(transcript, out("hello"));
    EXPECT_EQ(transcript.artifact()->head(100), "hello") << "while it runs";
    EXPECT_FALSE(transcript.artifact()->facts().finished);
    take(transcript, exited(0));
    const ToolResult result = transcript.result();
    EXPECT_FALSE(result.is_error);
    EXPECT_EQ(result.text, "hello\nThe command finished with exit code 0.");
    EXPECT_EQ(result.summary["status"], "exited");
    EXPECT_EQ(result.summary["exit_code"], 0);
    EXPECT_EQ(result.summary["call_id"], "call 1");
    EXPECT_EQ(result.summary["command_id"], 42);
    EXPECT_EQ(result.summary["gate"], "approved");
    EXPECT_EQ(result.summary["text_bytes_left_out"], 0);
    EXPECT_EQ(result.summary["artifact"]["bytes"], 5);
    EXPECT_TRUE(result.artifact->facts().finished);
}

TEST(Transcript, DenialsStandInTheirPlacesAndInTheSummary) {
    Transcript transcript = transcript_with(1000);
    Finished end = exited(1);
    end.result.denials = {denied("/x\xff")};
    end.result.denials[0].folded = 2;
    take(transcript, out("before"));
    take(transcript, end.result.denials[0]);
    take(transcript, out("after\n"));
    take(transcript, end);
    const ToolResult result = transcript.result();
    EXPECT_TRUE(result.is_error);
    const std::string expected =
        "before\n[sandbox 0] denied: write /x\\xff (rule: r; and 2 more like it)\nafter\n[sandbox 0] exit "
        "code 1\n";
    EXPECT_EQ(result.text.find(expected), 0U) << result.text;
    EXPECT_EQ(result.artifact->head(1000), expected);
    EXPECT_EQ(result.summary["denials"][0]["path"], "/x\uFFFD");
    EXPECT_EQ(result.summary["denials"][0]["errno"], "EACCES");
    EXPECT_EQ(result.summary["denials"][0]["host"], nullptr);
    EXPECT_EQ(result.summary["denial_count"], 3);
}

TEST(Transcript, WhatWeWriteIsRedactedAndWhatTheCommandWroteIsNot) {
    Transcript transcript = transcript_with(1000);
    Finished end = exited(1);
    end.result.denials = {denied("/home/ann/app/lock")};
    take(transcript, out("/home/ann/app\n"));
    take(transcript, end.result.denials[0]);
    take(transcript, end);
    const ToolResult result = transcript.result();
    EXPECT_EQ(result.text.find("/home/ann/app\n[sandbox 0] denied: write ./lock (rule: r)\n"), 0U)
        << result.text;
    EXPECT_EQ(result.summary["denials"][0]["path"], "./lock");
    EXPECT_EQ(result.artifact->search("ann").size(), 1U);
}

TEST(Transcript, TheTextIsBoundedAndValidAndTheArtifactWhole) {
    Transcript transcript = transcript_with(100);
    for (int i = 0; i < 1000; ++i) take(transcript, out("\xff\xff\xff\n"));
    take(transcript, exited(0));
    const ToolResult result = transcript.result();
    EXPECT_LT(result.text.size(), 500U);
    EXPECT_NE(result.text.find("[sandbox 0] left out here: 3904 bytes, 976 lines\n"), std::string::npos)
        << result.text;
    EXPECT_EQ(result.summary["text_bytes_left_out"], 3904);
    EXPECT_EQ(result.summary["text_lines_left_out"], 976);
    EXPECT_EQ(result.summary["artifact"]["lines"], 1000);
    EXPECT_EQ(result.artifact->facts().kept, 4000U);
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(result.text).dump()));
}

TEST(Transcript, ADenialInTheMiddleIsNotLost) {
    Transcript transcript = transcript_with(100);
    Finished end = exited(1);
    end.result.denials = {denied("/x")};
    for (int i = 0; i < 100; ++i) take(transcript, out("a line\n"));
    take(transcript, end.result.denials[0]);
    for (int i = 0; i < 100; ++i) take(transcript, out("a line\n"));
    take(transcript, end);
    const std::string text = transcript.result().text;
    EXPECT_NE(
        text.find(
            "Denied in the part that was left out:\n[sandbox 0] denied: write /x (rule: r)\nThe command"),
        std::string::npos)
        << text;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

TEST(Transcript, ThoseThatStandInTheHeadTakeNoPlaceFromTheOnesInTheMiddle) {
    Transcript transcript = transcript_with(4000);
    Finished end = exited(1);
    for (int i = 0; i < 30; ++i) end.result.denials.push_back(denied("/head" + std::to_string(i)));
    for (int i = 0; i < 5; ++i) end.result.denials.push_back(denied("/middle" + std::to_string(i)));
    for (int i = 0; i < 30; ++i) take(transcript, end.result.denials[static_cast<std::size_t>(i)]);
    for (int i = 0; i < 1000; ++i) take(transcript, out("a line\n"));
    for (std::size_t i = 30; i < 35; ++i) take(transcript, end.result.denials[i]);
    for (int i = 0; i < 1000; ++i) take(transcript, out("a line\n"));
    take(transcript, end);
    const std::string text = transcript.result().text;
    for (const Denial& denial : end.result.denials)
        EXPECT_EQ(count_of(text, "write " + denial.path + " "), 1U) << denial.path;
    EXPECT_EQ(count_of(text, " more"), 0U);
}

TEST(Transcript, TheNumberOfDenialsThatAreNotRepeatedIsSaid) {
    Transcript transcript = transcript_with(1000);
    Finished end = exited(1);
    for (int i = 0; i < 60; ++i) end.result.denials.push_back(denied("/q" + std::to_string(i)));
    for (int again = 0; again < 2; ++again)
        for (const Denial& denial : end.result.denials) take(transcript, denial);
    take(transcript, end);
    const std::string text = transcript.result().text;
    std::size_t missing = 0;
    for (const Denial& denial : end.result.denials)
        missing += count_of(text, "write " + denial.path + " ") == 0 ? 1U : 0U;
    EXPECT_GT(missing, 0U);
    EXPECT_NE(text.find("\nand " + std::to_string(missing) + " more, in the whole output\n"), text.npos)
        << missing << "\n" << text;
}

TEST(Transcript, ATruncatedArtifactIsSaid) {
    SpoolOptions spool;
    spool.quota_bytes = 3;
    Transcript transcript = transcript_with(1000, spool);
    take(transcript, out("hello"));
    take(transcript, exited(0));
    const ToolResult result = transcript.result();
    EXPECT_NE(result.text.find("hello\n"), std::string::npos);
    EXPECT_NE(result.text.find("3 bytes were kept: the quota of 3 bytes is reached."), std::string::npos);
    EXPECT_EQ(result.summary["artifact"]["truncated"], true);
    EXPECT_EQ(result.summary["artifact"]["bytes"], 5);
}

TEST(Transcript, WithoutAnEndItIsLost) {
    const ToolResult result = transcript_with(100).result();
    EXPECT_TRUE(result.is_error);
    EXPECT_EQ(result.summary["cause"], "lost");
}

TEST(Transcript, NothingRan) {
    const ToolResult result = nothing_ran({"call 2", 0}, "E_SANDBOX_REFUSED", "no\xff", "declined");
    EXPECT_TRUE(result.is_error);
    EXPECT_EQ(result.text, "no\uFFFD");
    EXPECT_EQ(result.summary["error"], "E_SANDBOX_REFUSED");
    EXPECT_EQ(result.summary["gate"], "declined");
    EXPECT_EQ(result.artifact, nullptr);
}

TEST(Transcript, EverySummaryHasEveryField) {
    const std::set<std::string> fields{"tool",        "call_id",         "command_id", "gate",
                                       "status",      "exit_code",       "signal",     "cause",
                                       "failed",      "error",           "reason",     "stage",
                                       "duration_ms", "output_bytes",    "artifact",   "text_bytes_left_out",
                                       "denials",     "denial_count",    "limit_hit",  "text_lines_left_out",
                                       "marker",      "denials_complete"};
    EXPECT_EQ(keys(nothing_ran({}, "E", "r", "").summary), fields);
    for (const EndStatus& status : {EndStatus(Exited{3}), EndStatus(Signaled{11}), EndStatus(NotStarted{})}) {
        Transcript transcript = transcript_with(100);
        Finished end = exited(1);
        end.result.status = status;
        end.result.limit_hit = "pids";
        take(transcript, end);
        EXPECT_EQ(keys(transcript.result().summary), fields);
    }
}

}  // namespace
}  // namespace sandpipe::tool
