#include "tool/narrator.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <set>
#include <string>

#include "support/mentions.hpp"
#include "tool/stage_kind.hpp"

namespace sandpipe::tool {
namespace {

using namespace std::chrono_literals;

CommandResult ended(Cause cause, EndStatus status) {
    CommandResult result;
    result.cause = cause;
    result.status = std::move(status);
    return result;
}

TEST(Narrator, EveryStageHasASentence) {
    for (auto stage = static_cast<std::uint32_t>(Stage::queue);
         stage <= static_cast<std::uint32_t>(Stage::options); ++stage) {
        const NotStarted start{static_cast<Stage>(stage), std::error_code(EPERM, std::system_category()), "",
                               ""};
        const std::string text = narrate(ended(Cause::not_started, start));
        EXPECT_TRUE(mentions(text, "was not started: " + std::string(to_string(start.stage)))) << text;
        EXPECT_GT(text.size(), text.find("permitted.") + 11) << "there is advice: " << text;
    }
}

TEST(Narrator, WhatTheMachineRefusedIsNotForTheModel) {
    for (auto stage = static_cast<std::uint32_t>(Stage::queue);
         stage <= static_cast<std::uint32_t>(Stage::options); ++stage) {
        const NotStarted start{static_cast<Stage>(stage), std::error_code(EPERM, std::system_category()),
                               "/host/libexec", "sysctl x=1"};
        const std::string text = narrate(ended(Cause::not_started, start));
        EXPECT_NE(mentions(text, "/host/libexec"), is_of_the_machine(start.stage)) << text;
        EXPECT_NE(mentions(text, "sysctl"), is_of_the_machine(start.stage)) << text;
    }
}

TEST(Narrator, EveryCauseHasASentenceOfItsOwnForEveryStatus) {
    const EndStatus statuses[] = {Exited{0}, Signaled{SIGTERM}, NotStarted{}};
    std::set<std::string> texts;
    int count = 0;
    for (int cause = 0; cause <= static_cast<int>(Cause::lost); ++cause) {
        for (const EndStatus& status : statuses) {
            const std::string text = narrate(ended(static_cast<Cause>(cause), status));
            EXPECT_GT(text.size(), 20U);
            EXPECT_EQ(text.back(), '.') << text;
        }
        count += texts.insert(narrate(ended(static_cast<Cause>(cause), Signaled{SIGTERM}))).second ? 1 : 0;
    }
    EXPECT_EQ(count, static_cast<int>(Cause::lost)) << "finished and not_started speak of the status";
}

TEST(Narrator, EveryKindOfDenialHasAdviceOfItsOwn) {
    std::set<std::string> advice;
    for (int kind = 0; kind <= static_cast<int>(DenialKind::syscall); ++kind) {
        CommandResult result = ended(Cause::finished, Exited{1});
        result.denials.resize(1);
        result.denials[0].kind = static_cast<DenialKind>(kind);
        const std::string text = narrate(result);
        const std::size_t end = text.find("will not help.");
        ASSERT_NE(end, std::string::npos) << text;
        EXPECT_GT(text.size(), end + 30) << text;
        EXPECT_TRUE(advice.insert(text.substr(end)).second) << text;
    }
    CommandResult both = ended(Cause::finished, Exited{1});
    both.denials.resize(3);
    both.denials[1].kind = DenialKind::domain;
    EXPECT_TRUE(mentions(narrate(both), "policy allows")) << narrate(both);
    EXPECT_TRUE(mentions(narrate(both), "host is not allowed")) << narrate(both);
}

TEST(Narrator, EveryLimitIsNamed) {
    for (const std::string name :
         {"memoryBytes", "pids", "cpuSeconds", "fileSizeBytes", "openFiles", "tmpBytes"}) {
        CommandResult result = ended(Cause::finished, Signaled{SIGKILL});
        result.limit_hit = name;
        const std::string text = narrate(result);
        const std::size_t at = text.find("resource limit: " + name + ". ");
        EXPECT_NE(at, std::string::npos) << text;
    }
    CommandResult other = ended(Cause::finished, Signaled{SIGKILL});
    other.limit_hit = "new";
    EXPECT_TRUE(narrate(other).ends_with("resource limit: new.")) << narrate(other);
}

TEST(Narrator, WhatAShellMeansByItsExitCodes) {
    const auto text = [](int code) { return narrate(ended(Cause::finished, Exited{code})); };
    EXPECT_TRUE(mentions(text(126), "could not execute"));
    EXPECT_TRUE(mentions(text(127), "did not find"));
    EXPECT_TRUE(mentions(text(139), "SIGSEGV ended a program"));
    EXPECT_TRUE(text(128).ends_with("exit code 128."));
    EXPECT_TRUE(text(255).ends_with("exit code 255."));
}

TEST(Narrator, TableOfEndings) {
    EXPECT_EQ(narrate(ended(Cause::finished, Exited{0})), "The command finished with exit code 0.");
    EXPECT_EQ(narrate(ended(Cause::finished, Exited{7})), "The command finished with exit code 7.");
    EXPECT_TRUE(
        mentions(narrate(ended(Cause::finished, Signaled{SIGSEGV})), "killed by SIGSEGV: a program crashed"));
    EXPECT_TRUE(mentions(narrate(ended(Cause::finished, Signaled{SIGSYS})), "forbids"));
    CommandResult late = ended(Cause::timed_out, Signaled{SIGTERM});
    late.timeout = 300s;
    EXPECT_TRUE(mentions(narrate(late), "timeout of 300 s"));
    EXPECT_TRUE(mentions(narrate(late), "larger timeout_seconds"));
    EXPECT_TRUE(
        mentions(narrate(ended(Cause::output_limit, Signaled{SIGTERM})), "more output than is allowed"));
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
    EXPECT_TRUE(mentions(narrate(result), "denied 2 acts: the lines with [sandbox 0123456789ab]"));
    result.denials[1].folded = 10;
    EXPECT_TRUE(mentions(narrate(result), "denied 12 acts:"));
    result.denials.resize(1);
    EXPECT_FALSE(mentions(narrate(result), "denied"));
    result.denials_complete = false;
    EXPECT_TRUE(mentions(narrate(result), "cannot report"));
}

TEST(Narrator, LimitsAndSurvivors) {
    CommandResult result = ended(Cause::finished, Signaled{SIGKILL});
    result.limit_hit = "memory";
    result.survivors_ended = 2;
    EXPECT_TRUE(mentions(narrate(result), "resource limit: memory"));
    EXPECT_TRUE(mentions(narrate(result), "Background processes"));
}

TEST(Narrator, GateDecisions) {
    EXPECT_EQ(narrate(GateDecision(Approved{})), "");
    EXPECT_TRUE(mentions(narrate(GateDecision(Declined{"not on a Friday"})),
                         "declined with this note: not on a Friday"));
    EXPECT_TRUE(mentions(narrate(GateDecision(Declined{})), "declined"));
    EXPECT_TRUE(mentions(narrate(GateDecision(GateTimedOut{})), "in time"));
    EXPECT_TRUE(mentions(narrate(GateDecision(GateAborted{})), "withdrawn"));
    EXPECT_EQ(to_string(GateDecision(Approved{})), "approved");
    EXPECT_EQ(to_string(GateDecision(Declined{})), "declined");
    EXPECT_EQ(to_string(GateDecision(GateTimedOut{})), "timed_out");
    EXPECT_EQ(to_string(GateDecision(GateAborted{})), "aborted");
}

}  // namespace
}  // namespace sandpipe::tool
