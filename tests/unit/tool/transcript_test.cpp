#include "tool/transcript.hpp"

#include <gtest/gtest.h>

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

TEST(Transcript, OutputThenASentence) {
    Transcript transcript("0", 1000);
    transcript.take(out("hello"));
    transcript.take(exited(0));
    const ToolResult result = transcript.result();
    EXPECT_FALSE(result.is_error);
    EXPECT_EQ(result.text, "hello\nThe command finished with exit code 0.");
    EXPECT_EQ(result.summary["status"], "exited");
    EXPECT_EQ(result.summary["exit_code"], 0);
    EXPECT_EQ(result.summary["text_bytes_left_out"], 0);
}

TEST(Transcript, DenialsStandInTheirPlacesAndInTheSummary) {
    Transcript transcript("0", 1000);
    Finished end = exited(1);
    end.result.denials = {denied("/x\xff")};
    transcript.take(out("before"));
    transcript.take(end.result.denials[0]);
    transcript.take(out("after\n"));
    transcript.take(end);
    const ToolResult result = transcript.result();
    EXPECT_TRUE(result.is_error);
    EXPECT_EQ(result.text.find(
                  "before\n[sandbox 0] denied: write /x\\xff (rule: r)\nafter\n[sandbox 0] exit code 1\n"),
              0U);
    EXPECT_EQ(result.summary["denials"][0]["path"], "/x\uFFFD");
    EXPECT_EQ(result.summary["denial_count"], 1);
}

TEST(Transcript, TheTextIsBoundedAndValid) {
    Transcript transcript("0", 100);
    for (int i = 0; i < 1000; ++i) transcript.take(out("\xff\xff\xff\n"));
    transcript.take(exited(0));
    const ToolResult result = transcript.result();
    EXPECT_LT(result.text.size(), 500U);
    EXPECT_NE(result.text.find("bytes left out"), std::string::npos);
    EXPECT_GT(result.summary["text_bytes_left_out"], 3000);
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(result.text).dump()));
}

TEST(Transcript, WithoutAnEndItIsLost) {
    const ToolResult result = Transcript("0", 100).result();
    EXPECT_TRUE(result.is_error);
    EXPECT_EQ(result.summary["cause"], "lost");
}

TEST(Transcript, NothingRan) {
    const ToolResult result = nothing_ran("E_SANDBOX_REFUSED", "no\xff");
    EXPECT_TRUE(result.is_error);
    EXPECT_EQ(result.text, "no\uFFFD");
    EXPECT_EQ(result.summary["error"], "E_SANDBOX_REFUSED");
}

}  // namespace
}  // namespace sandpipe::tool
