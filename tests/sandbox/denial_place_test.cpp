#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using std::chrono::milliseconds;

/// Where a denial stands in the stream: after all that was written before the call, before all that came
/// later.
class DenialPlace : public SandboxTest {
  protected:
    BinaryInvocation speaking(const std::string& mode, Order order, int count) {
        return command(test_program("attack_refused"))
            .args(at("o/made"), std::to_string(count), mode)
            .order(order);
    }

    /// One stream and the denials in it, "<" each. A chunk may end anywhere, so the streams are looked at one
    /// by one.
    static std::string story_of(const Ran& ran, bool err) {
        std::string story;
        for (const OutputEvent& event : ran.events) {
            const auto* chunk = std::get_if<OutputChunk>(&event);
            if (std::holds_alternative<Denial>(event)) story += '<';
            if (!chunk || (chunk->stream != StreamTag::merged && (chunk->stream == StreamTag::err) != err))
                continue;
            for (const char c : chunk->data)
                if (c != '.') story += c;
        }
        return story;
    }

    void expect_in_place(const Ran& ran, int count) {
        ASSERT_EQ(ran.result.denials.size(), static_cast<std::size_t>(count));
        const std::string out = story_of(ran, false);
        const std::string err = story_of(ran, true);
        std::size_t here = 0;
        std::size_t here_in_err = 0;
        for (int i = 0; i < count && !HasFailure(); ++i) {
            const std::string n = std::to_string(i) + "\n";
            here = out.find('<', here + (i ? 1 : 0));
            here_in_err = err.find('<', here_in_err + (i ? 1 : 0));
            EXPECT_LT(position(out, "a" + n), here) << "round " << i;
            EXPECT_GT(position(out, "b" + n), here) << "round " << i;
            EXPECT_GT(position(err, "c" + n), here_in_err) << "round " << i;
            if (i > 0) {
                EXPECT_LT(position(err, "c" + std::to_string(i - 1) + "\n"), here_in_err) << "round " << i;
            }
        }
    }
    static std::size_t position(const std::string& story, const std::string& what) {
        std::size_t at = story.find(what);
        while (at != std::string::npos && at > 0 && story[at - 1] != '\n' && story[at - 1] != '<')
            at = story.find(what, at + 1);
        EXPECT_NE(at, std::string::npos) << what;
        return at;
    }
};

TEST_F(DenialPlace, IsExactInBothOrders) {
    Session session = open();
    for (const Order order : {Order::tagged, Order::merged})
        expect_in_place(session.run(speaking("speaking", order, rounds(200))), rounds(200));
}

TEST_F(DenialPlace, IsExactBesideAFloodingThread) {
    Session session = open();
    for (const Order order : {Order::tagged, Order::merged})
        expect_in_place(session.run(speaking("noisy", order, rounds(200))), rounds(200));
}

TEST_F(DenialPlace, IsExactForAConsumerThatAsksLate) {
    Session session = open();
    for (const Order order : {Order::tagged, Order::merged})
        for (const char* mode : {"speaking", "noisy"}) {
            Running running = session.start(speaking(mode, order, rounds(100)));
            idle_for(milliseconds(300));
            expect_in_place(running.finish(), rounds(100));
        }
}

TEST_F(DenialPlace, IsExactAcrossShortCommands) {
    Session session = open();
    for (int i = 0; i < rounds(40); ++i) {
        const Ran ran = session.run(
            session.shell("echo a; echo x > ../o/made; echo b").order(i % 2 ? Order::merged : Order::tagged));
        const std::size_t here = ran.story.find("<open");
        EXPECT_EQ(here, 2u) << ran.story;
        EXPECT_GT(ran.story.find("made: "), here) << ran.story;
        EXPECT_GT(ran.story.find("b\n"), here) << ran.story;
    }
}

TEST_F(DenialPlace, AFullPipeDoesNotMoveIt) {
    Session session = open();
    // More than the pipe holds and more than may wait unread, before and after.
    Running running =
        session.start(session.shell("head -c 1000000 /dev/zero | tr '\\0' '.'; echo x 2>/dev/null > "
                                    "../o/made; head -c 1000000 /dev/zero | tr '\\0' ','"));
    idle_for(milliseconds(100));
    const Ran ran = running.finish();
    const std::size_t here = ran.story.find("<open");
    EXPECT_EQ(here, 1'000'000u);
    EXPECT_EQ(ran.out.size(), 2'000'000u);
}

TEST_F(DenialPlace, WhatIsQueuedBehindADenialDoesNotHoldItUp) {
    Session session = open();
    // Stdout fills the queue while the consumer sleeps, and then the denial waits for what is in the pipe of stderr.
    for (int round = 0; round < rounds(3); ++round) {
        Running running =
            session.start(session.shell("head -c 5000000 /dev/zero | tr '\\0' '.' & sleep 0.2; echo mark >&2;"
                                        " echo x 2>/dev/null > ../o/made; wait"));
        idle_for(milliseconds(600));
        const Ran ran = running.finish();
        EXPECT_EQ(ran.out.size(), 5'000'000u);
        EXPECT_LT(ran.story.find("mark\n"), ran.story.find("<open"));
        EXPECT_NE(ran.story.find("<open"), std::string::npos);
    }
}

TEST_F(DenialPlace, NumbersHaveNoGaps) {
    Session session = open();
    const Ran ran = session.run(speaking("noisy", Order::tagged, 50));
    std::uint64_t expected = 1;
    for (const OutputEvent& event : ran.events)
        std::visit([&](const auto& one) { EXPECT_EQ(one.seq, expected++); }, event);
}

}  // namespace
}  // namespace sandpipe::testing
