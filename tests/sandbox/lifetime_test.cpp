#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using std::chrono::milliseconds;

class Lifetime : public SandboxTest {
  protected:
    static void expect_gone(const std::string& token) {
        EXPECT_TRUE(all_end_within(processes_with(token), milliseconds(1000)));
        EXPECT_TRUE(processes_with(token).empty());
    }
};

TEST_F(Lifetime, NothingSurvivesItsCommand) {
    Session session = open();
    const std::string token = unique_seconds();
    const Ran ran =
        session.sh("trap '' TERM HUP INT; (setsid setsid sleep " + token + " >/dev/null 2>&1 &) ; sleep " +
                   token + " > /dev/null 2>&1 & (trap '' TERM; exec -a x sleep " + token +
                   ") >/dev/null 2>&1 & nohup sleep " + token + " >/dev/null 2>&1 & echo started");
    EXPECT_EQ(ran.out, "started\n");
    EXPECT_EQ(ran.result.cause, Cause::finished);
    expect_gone(token);
    EXPECT_EQ(session.sh("set -- /proc/[0-9]*; echo $#").out, "2\n") << "pid 1 and the shell";
}

TEST_F(Lifetime, SurvivorsThatHoldThePipesEndToo) {
    Session session = open();
    const std::string token = unique_seconds();
    const auto begin = std::chrono::steady_clock::now();
    const Ran ran = session.sh("setsid sleep " + token + " & echo started");
    EXPECT_EQ(ran.out, "started\n");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    expect_gone(token);
}

TEST_F(Lifetime, ATimeoutEndsTheWholeTree) {
    Session session = open();
    const std::string token = unique_seconds();
    StopPolicy stop;
    stop.grace = milliseconds(100);
    const Ran ran = session.run(session
                                    .shell("trap '' TERM; setsid sh -c \"trap '' TERM; sleep " + token +
                                           "; sleep " + token + "\" & sleep " + token + "; sleep " + token)
                                    .timeout(milliseconds(300))
                                    .stop(stop));
    EXPECT_EQ(ran.result.cause, Cause::timed_out);
    EXPECT_TRUE(ran.result.forced);
    expect_gone(token);
}

TEST_F(Lifetime, AStoppedTreeEndsToo) {
    Session session = open();
    const std::string token = unique_seconds();
    StopPolicy stop;
    stop.grace = milliseconds(200);
    const Ran ran = session.run(
        session.shell("sleep " + token + " & kill -STOP $! $$").timeout(milliseconds(300)).stop(stop));
    EXPECT_EQ(ran.result.cause, Cause::timed_out);
    expect_gone(token);
}

TEST_F(Lifetime, TermReachesTheCommandItself) {
    Session session = open();
    Running running =
        session.start(session.shell("trap 'echo t; exit 3' TERM; echo up; while :; do sleep 0.05; done"));
    running.await_output("up");
    running.stop();
    const Ran ran = running.finish();
    EXPECT_EQ(ran.out, "up\nt\n");
    EXPECT_EQ(ran.code(), 3);
    EXPECT_EQ(ran.result.cause, Cause::cancelled);
    EXPECT_FALSE(ran.result.forced);
}

TEST_F(Lifetime, OrphansAreReaped) {
    Session session = open();
    const Ran ran = session.sh(
        "for i in $(seq 300); do (sleep 0.01 &) ; done; for n in $(seq 100); do "
        "z=$(cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z 1 '); [ $z = 0 ] && break; sleep 0.05; done; "
        "echo $z");
    EXPECT_EQ(ran.out, "0\n") << ran.err;
}

TEST_F(Lifetime, AForkStormEndsWithItsCommand) {
    Session session = open();
    const std::string token = unique_seconds();
    const Ran ran = session.attack("attack_storm", {"300", token});
    EXPECT_EQ(ran.code(), 0) << ran.err;
    expect_gone(token);
    // Those that fork on and on cannot outrun the end either.
    const Ran endless =
        session.run(command(test_program("attack_storm")).args("endless", token).timeout(milliseconds(500)));
    EXPECT_EQ(endless.result.cause, Cause::timed_out);
    expect_gone(token);
    EXPECT_EQ(session.sh("echo next").out, "next\n");
}

// Who reaps them must still hear that they have to end.
TEST_F(Lifetime, OrphansWithoutEndDoNotPutOffTheEnd) {
    Session session = open();
    StopPolicy stop;
    stop.grace = milliseconds(200);
    const Ran ran =
        session.run(command(test_program("attack_storm")).args("orphans", "0").timeout(milliseconds(1000)).stop(stop));
    EXPECT_EQ(ran.result.cause, Cause::timed_out);
    EXPECT_TRUE(ran.result.forced);
    EXPECT_FALSE(ran.result.abandoned);
    EXPECT_EQ(session.sh("echo next").out, "next\n");
}

TEST_F(Lifetime, ClosingASessionEndsItsCommands) {
    const std::string token = unique_seconds();
    Session session = open();
    Running running = session.start(session.shell("trap '' TERM; echo up; setsid sleep " + token +
                                                  " & sleep " + token + "; sleep " + token));
    running.await_output("up");
    session.close();
    const Ran ran = running.finish();
    EXPECT_TRUE(ran.result.cause == Cause::cancelled || ran.result.cause == Cause::lost)
        << to_string(ran.result.cause);
    expect_gone(token);
}

TEST_F(Lifetime, AForkedChildEndsNothingOfItsParents) {
    Session session = open();
    EXPECT_EQ(session.sh("echo first").out, "first\n");
    const pid_t child = ::fork();
    if (child == 0) {
        { const Session dropped = std::move(session); }
        ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_EQ(session.sh("echo next").out, "next\n");
}

TEST_F(Lifetime, AnAbandonedStreamEndsItsCommand) {
    const std::string token = unique_seconds();
    Session session = open();
    {
        Running running = session.start(session.shell("echo up; exec sleep " + token));
        running.await_output("up");
    }
    idle_for(milliseconds(300));
    expect_gone(token);
}

TEST_F(Lifetime, AProcessThatDiesWithItsLeaderInAPidNamespaceOfManyThreads) {
    Session session = open();
    const std::string token = unique_seconds();
    const Ran ran = session.python(
        "import threading,subprocess,os\n"
        "def f(): subprocess.Popen(['sleep','" +
        token +
        "'],start_new_session=True,stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL)\n"
        "t=[threading.Thread(target=f) for _ in range(8)]\n"
        "[x.start() for x in t]; [x.join() for x in t]; os._exit(5)\n");
    EXPECT_EQ(ran.code(), 5) << ran.err;
    expect_gone(token);
}

}  // namespace
}  // namespace sandpipe::testing
