#include <filesystem>

#include "support/host_listener.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

struct Halves {
    const char* one;
    const char* other;
};

constexpr Halves kHalves[] = {
    {"rename-file", "exchange-file"},   {"link-file", "exchange-link"},     {"take-away", "move-directory"},
    {"bring-longest", "move-directory"}, {"bind-socket", "move-directory"}, {"bind-through-link", "flip-link"},
};

/// Two sessions on one tree, whose locks are not the same. What each does is allowed; what both bring about together is
/// not, and does not stay.
class TwoSessions : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w/arena");
    }
    std::string race(const SandboxPolicy& policy, const Halves& halves) {
        host("rm -rf w/arena; mkdir w/arena");
        return race_on(policy, halves);
    }
    std::string race_on(const SandboxPolicy& policy, const Halves& halves) {
        Session first = open(policy);
        Session second = open(policy);
        Running one = start(first, halves.one);
        Running other = start(second, halves.other);
        const Ran ran_one = one.finish();
        const Ran ran_other = other.finish();
        EXPECT_EQ(ran_one.result.cause, Cause::finished);
        EXPECT_EQ(ran_other.result.cause, Cause::finished);
        return ran_one.out + ran_other.out + ran_one.err + ran_other.err;
    }

  private:
    Running start(Session& session, const std::string& part) {
        return session.start(command(test_program("attack_sessions"))
                                 .args(part, std::to_string(rounds(1000)))
                                 .cwd(at("w/arena")));
    }
};

TEST_F(TwoSessions, BringNothingAboutTogether) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"arena/m/n"};
    for (const Halves& halves : kHalves) {
        EXPECT_EQ(race(policy, halves), "tried\ntried\n") << halves.one;
        EXPECT_FALSE(std::filesystem::exists(at("w/arena/m/n"))) << halves.one;
    }
}

/// The same programs where nothing is forbidden.
TEST_F(TwoSessions, BringItAboutWhereItIsAllowed) {
    for (const Halves& halves : kHalves)
        EXPECT_NE(race(writable(), halves).find("WON\n"), std::string::npos) << halves.one;
}

/// The socket that one session makes is exchanged for one of the host's before it can be looked at.
TEST_F(TwoSessions, DoNotPassOffASocketOfTheHostAsTheirs) {
    host("mkdir w/arena");
    const HostListener listener(at("w/arena/host"));
    EXPECT_EQ(race_on(writable(), {"bind-and-connect", "bring-socket"}), "tried\ntried\n");
    EXPECT_EQ(listener.visitors(), 0);
}

}  // namespace
}  // namespace sandpipe::testing
