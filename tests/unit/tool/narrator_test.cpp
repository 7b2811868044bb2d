#include "tool/narrator.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace sandpipe::tool {
namespace {

using namespace std::chrono_literals;

CommandResult ended(Cause cause, EndStatus status) {
    CommandResult result;
    result.cause = cause;
    result.status = std::move(status);
    return result;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Narrator, EveryStageHasASentence) {
    for (auto stage = static_cast<std::uint32_t>(Stage::queue);
         stage <= static_cast<std::uint32_t>(Stage::options); ++stage) {
        const NotStarted start{static_cast<Stage>(stage), std::error_code(EPERM, std::system_category()), "",
                               ""};
        const std::string text = narrate(ended(Cause::not_started, start));
        EXPECT_TRUE(says(text, "was not started: " + std::string(to_string(start.stage)))) << text;
        EXPECT_GT(text.size(), text.find("permitted.") + 11) << "there is advice: " << text;
    }
}

TEST(Narrator, EveryCauseHasASentence) {
    for (int cause = 0; cause <= static_cast<int>(Cause::lost); ++cause) {
        EXPECT_FALSE(narrate(ended(static_cast<Cause>(cause), Exited{0})).empty());
    }
}

TEST(Narrator, TableOfEndings) {
    EXPECT_EQ(narrate(ended(Cause::finished, Exited{0})), "The command finished with exit code 0.");
    EXPECT_EQ(narrate(ended(Cause::finished, Exited{7})), "The command finished with exit code 7.");
    EXPECT_TRUE(
        says(narrate(ended(Cause::finished, Signaled{SIGSEGV})), "killed by SIGSEGV: a program crashed"));
    EXPECT_TRUE(says(narrate(ended(Cause::finished, Signaled{SIGSYS})), "forbids"));
    CommandResult late = ended(Cause::timed_out, Signaled{SIGTERM});
    late.timeout = 300s;
    EXPECT_TRUE(says(narrate(late), "timeout of 300 s"));
    EXPECT_TRUE(says(narrate(late), "larger timeout_seconds"));
    EXPECT_TRUE(says(narrate(ended(Cause::output_limit, Signaled{SIGTERM})), "more output than is allowed"));
}

TEST(Narrator, AHintOfTheStartTakesThePlaceOfOurs) {
    const NotStarted start{Stage::cwd, std::error_code(ENOENT, std::system_category()), "/w/x", "make it"};
    EXPECT_EQ(narrate(ended(Cause::not_started, start)),
              "The command was not started: cwd /w/x: No such file or directory; make it.");
}

TEST(Narrator, DenialsAreCountedWithoutProbes) {
    CommandResult result = ended(Cause::finished, Exited{1});
    result.marker = "0123456789ab";
    result.denials.resize(3);
    result.denials[0].probe = true;
    EXPECT_TRUE(says(narrate(result), "denied 2 acts: the lines with [sandbox 0123456789ab]"));
    result.denials.resize(1);
    EXPECT_FALSE(says(narrate(result), "denied"));
    result.denials_complete = false;
    EXPECT_TRUE(says(narrate(result), "cannot report"));
}

TEST(Narrator, LimitsAndSurvivors) {
    CommandResult result = ended(Cause::finished, Signaled{SIGKILL});
    result.limit_hit = "memory";
    result.survivors_ended = 2;
    EXPECT_TRUE(says(narrate(result), "resource limit: memory"));
    EXPECT_TRUE(says(narrate(result), "Background processes"));
}

TEST(Narrator, GateDecisions) {
    EXPECT_EQ(narrate(GateDecision(Approved{})), "");
    EXPECT_TRUE(
        says(narrate(GateDecision(Declined{"not on a Friday"})), "declined with this note: not on a Friday"));
    EXPECT_TRUE(says(narrate(GateDecision(Declined{})), "declined"));
    EXPECT_TRUE(says(narrate(GateDecision(GateTimedOut{})), "in time"));
    EXPECT_TRUE(says(narrate(GateDecision(GateAborted{})), "withdrawn"));
}

}  // namespace
}  // namespace sandpipe::tool
