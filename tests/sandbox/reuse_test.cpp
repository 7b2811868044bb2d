#include <unistd.h>

#include <set>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

class Reuse : public SandboxTest {
  protected:
    static std::size_t inits() {
        const pid_t launcher = launchers_of(::getpid()).at(0);
        const pid_t cell = children_of(launcher).at(0);
        return children_of(cell).size();
    }
};

TEST_F(Reuse, ManyCommandsNeedFewInits) {
    Session session = open();
    std::set<std::string> namespaces;
    for (int i = 0; i < 30; ++i) namespaces.insert(session.sh("readlink /proc/self/ns/pid").out);
    EXPECT_LE(namespaces.size(), 4u);
    EXPECT_LE(inits(), 5u);
}

TEST_F(Reuse, CommandsAtTheSameTimeHaveInitsOfTheirOwn) {
    Session session = open();
    std::vector<Running> all;
    for (int i = 0; i < 6; ++i) {
        all.push_back(session.start(
            session.shell("readlink /proc/self/ns/pid; echo up; read x").input(Input::stream())));
        all.back().await_output("up");
    }
    std::set<std::string> namespaces;
    for (Running& running : all) namespaces.insert(running.output());
    EXPECT_EQ(namespaces.size(), 6u);
    for (Running& running : all) running.write("\n");
    for (Running& running : all) EXPECT_EQ(running.finish().result.cause, Cause::finished);
}

// What a process can leave to another of the same namespace, and what it looks like when nothing was left.
constexpr const char* kLook =
    "cat /proc/self/limits; umask; ulimit -a; pwd; env | sort | grep -v ^_=; grep -E "
    "'^(Sig|Cap|Umask|NStgid|TracerPid|Groups|Cpus_allowed:|Uid)' /proc/self/status "
    "| grep -v -E 'NStgid|SigQ'; nice; cat /proc/self/oom_score_adj; cat /proc/self/autogroup 2>/dev/null | "
    "cut -d' ' -f2-; "
    "cat /proc/self/coredump_filter /proc/self/timerslack_ns; ls /proc/self/fd; set -- /proc/[0-9]*; echo $#; "
    "ps -o nice= -p 1; "
    "grep -E 'Max' /proc/1/limits; grep -E '^(Umask|Cpus_allowed:)' /proc/1/status; ls -A /dev/mqueue "
    "2>/dev/null; "
    "cat /proc/sys/kernel/pid_max; chrt -p 1 2>&1 | cut -d' ' -f3-; ionice -p 1; taskset -p 1 | cut -d: -f2";

TEST_F(Reuse, ACommandSeesNothingOfTheOneBefore) {
    Session session = open();
    const Ran first = session.sh(kLook);
    const Ran dirty = session.sh(
        "cd /; umask 000; ulimit -n 20; ulimit -c 0; ulimit -s 1024; ulimit -u 50; export LEFT=over; trap '' "
        "TERM HUP INT CHLD; "
        "renice -n 5 -p 1; renice -n 7 $$; renice -n 3 -u $(id -u); ionice -c 3 -p 1; taskset -p 1 1; "
        "taskset -p 1 $$; chrt -b -p 0 1; "
        "prlimit --pid 1 --nofile=9; prlimit --pid 1 --core=0; "
        "(setsid sleep 600 &); exec 9</etc/passwd; echo 500 > /proc/self/oom_score_adj; echo 1 > "
        "/proc/1/oom_score_adj; echo 3 > /proc/1/coredump_filter; "
        "echo 0 > /proc/1/timerslack_ns; kill -CHLD 1; echo 5 > /proc/sys/kernel/ns_last_pid");
    const Ran second = session.sh(kLook);
    EXPECT_EQ(first.out, second.out) << dirty.err;
    EXPECT_FALSE(first.out.empty());
    EXPECT_EQ(session.sh("echo $LEFT").out, "\n");
}

TEST_F(Reuse, NothingOfTheLastCommandIsInProc) {
    Session session = open();
    EXPECT_EQ(session.sh("for i in 1 2 3 4 5; do (setsid sleep 600 &); done; echo x").out, "x\n");
    const Ran ran = session.sh("cat /proc/[0-9]*/comm | sort | grep -c sleep");
    EXPECT_EQ(ran.out, "0\n");
}

TEST_F(Reuse, AFullProcessTableOfTheLastCommandDoesNotStopTheNext) {
    Session session = open();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(session.attack("attack_storm", {"100", unique_seconds()}).code(), 0);
        EXPECT_EQ(session.sh("echo next").out, "next\n");
    }
}

TEST_F(Reuse, LocksAndLeasesOfTheLastCommandAreGone) {
    Session session = open();
    EXPECT_EQ(session.sh("exec 8<file; flock -n 8 && (setsid sleep 600 &) ; echo held").out, "held\n");
    EXPECT_EQ(session.sh("exec 8<file; flock -n 8 && echo free").out, "free\n");
}

TEST_F(Reuse, DescriptorsOfTheHostStayFlat) {
    Session session = open();
    EXPECT_EQ(session.sh("true; touch ../o/x").code(), 1);
    const std::size_t before = open_descriptors();
    for (int i = 0; i < rounds(60); ++i) (void)session.sh("touch ../o/x");
    EXPECT_LE(open_descriptors(), before);
    // Nor does an init keep any: a listener for each command would show here.
    const pid_t launcher = launchers_of(::getpid()).at(0);
    for (const pid_t pid : descendants_of(launcher)) {
        const std::string directory = "/proc/" + std::to_string(pid) + "/fd";
        std::size_t count = 0;
        for (int fd = 0; fd < 400; ++fd)
            count += ::access((directory + "/" + std::to_string(fd)).c_str(), F_OK) == 0 ? 1 : 0;
        EXPECT_LT(count, 30u) << "process " << pid;
    }
}

}  // namespace
}  // namespace sandpipe::testing
