#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sandpipe/unique_fd.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/machine_without.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Lines = std::vector<std::string>;

/// A machine that refuses something, and what a session gives up for it.
struct Refusal {
    const char* what;
    Lines given_up;
    bool root_only = false;
};

const std::vector<Refusal> kGivenUp{
    {"listener", {"denials", "names"}},       {"ipcns", {"ipc"}},
    {"utsns", {"uts"}},                       {"landlock", {"landlock", "names"}},
    {"proc", {"proc", "denials", "names"}},   {"userns", {"user_namespace"}, true},
};

class WeakerSession : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        seal();
        ignore_below("w");
        token_ = unique_seconds();
        listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
        ASSERT_EQ(::listen(listener_.get(), 8), 0);
        ASSERT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = std::to_string(ntohs(address.sin_port));
    }
    void TearDown() override {
        listener_.reset();
        SandboxTest::TearDown();
    }
    /// Tries what is never given up, and leaves a process behind.
    [[nodiscard]] std::string attempts() const {
        return "exec 2>/dev/null; cat ../o/file && echo READ; (echo > /dev/tcp/127.0.0.1/" + port_ +
               ") && echo CONNECTED; echo x > ../c/file && echo WROTE; echo x > file && echo OVERWROTE; "
               "setsid sleep " + token_ + " & echo made > new; cat new two";
    }
    void expect_walls(const CommandLineRun& run) {
        EXPECT_EQ(run.status, 0) << run.text;
        EXPECT_EQ(run.output(), "made\ncontent of /two\n") << run.text;
        for (const char* mechanism : {"network", "denied_reads", "processes", "seccomp", "capabilities"})
            EXPECT_EQ(run.enforced(mechanism), "full") << mechanism;
        EXPECT_TRUE(all_end_within(processes_with(token_), std::chrono::milliseconds(1000)));
        EXPECT_TRUE(processes_with(token_).empty());
    }
    CommandLineRun run(const std::string& what, const std::string& options) {
        return run_without(what, at("w"), options + " --deny-read ../o --deny-write file", attempts());
    }

    std::string token_;
    std::string port_;
    unique_fd listener_;
};

TEST_F(WeakerSession, TheAttemptsSucceedOutside) {
    const std::string line = "cat ../o/file; (echo > /dev/tcp/127.0.0.1/" + port_ + ") && echo CONNECTED";
    EXPECT_EQ(std::system(("cd '" + at("w") + "' && bash -c '" + line + "' > out").c_str()), 0);
    EXPECT_EQ(read_file(at("w/out")), "content of /file\nCONNECTED\n");
}

TEST_F(WeakerSession, WhatTheMachineRefusesIsGivenUpByName) {
    for (const Refusal& refusal : kGivenUp) {
        SCOPED_TRACE(refusal.what);
        if (refusal.root_only && !is_root()) continue;
        const CommandLineRun weaker = run(refusal.what, "--weaker-nested");
        expect_walls(weaker);
        for (const std::string& mechanism : refusal.given_up) {
            EXPECT_EQ(weaker.enforced(mechanism), "none") << mechanism;
            EXPECT_THAT(weaker.warnings(), HasSubstr("weaker: " + mechanism + " is given up")) << weaker.text;
        }
        const std::string warnings = weaker.warnings();
        EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), static_cast<long>(refusal.given_up.size()))
            << warnings;
        // Without leave to be weaker there is no session.
        std::filesystem::remove(at("w/new"));
        const CommandLineRun strict = run(refusal.what, "");
        EXPECT_EQ(strict.status, 125) << strict.text;
        EXPECT_THAT(strict.failure(), HasSubstr("E_SANDBOX_UNSUPPORTED_ENV"));
        EXPECT_FALSE(std::filesystem::exists(at("w/new")));
    }
}

TEST_F(WeakerSession, OnAWholeMachineNothingIsGivenUp) {
    const CommandLineRun whole = run("none", "--weaker-nested");
    expect_walls(whole);
    EXPECT_EQ(whole.warnings(), "");
    EXPECT_EQ(whole.line("end")["denials_complete"], true);
    for (const char* mechanism : {"namespaces", "filesystem", "ipc", "landlock", "denials"})
        EXPECT_EQ(whole.enforced(mechanism), "full") << mechanism;
    for (const char* mechanism : {"names", "proc", "uts", "execution"}) EXPECT_EQ(whole.enforced(mechanism), "missing");
}

TEST_F(WeakerSession, NetworkReadsAndTheEndOfTheTreeAreNeverGivenUp) {
    Lines fatal{"netns",      "pidns",         "mountns", "seccomp", "open_tree",
                "move_mount", "mount_setattr", "fsmount", "prctl",   "capset"};
    if (!is_root()) fatal.push_back("userns");
    for (const std::string& what : fatal) {
        const CommandLineRun refused = run(what, "--weaker-nested");
        EXPECT_EQ(refused.status, 125) << what << refused.text;
        EXPECT_NE(refused.failure(), "") << what;
        EXPECT_FALSE(std::filesystem::exists(at("w/new"))) << what;
    }
}

/// What can be moved away with its directory could be read in the next session.
TEST_F(WeakerSession, DeniedReadsInAWritablePlaceNeedASupervisor) {
    for (const char* what : {"listener", "proc", "notifications"})
        for (const char* rule : {"dir/inner", "'**/inner'"}) {
            const CommandLineRun refused =
                run_without(what, at("w"), std::string("--weaker-nested --deny-read ") + rule, "mv dir moved");
            EXPECT_EQ(refused.status, 125) << what << refused.text;
            EXPECT_THAT(refused.failure(), HasSubstr("filesystem.denyRead"));
            EXPECT_THAT(refused.failure(), Not(HasSubstr("--weaker-nested")));
            EXPECT_TRUE(std::filesystem::exists(at("w/dir/inner")));
        }
    const CommandLineRun run = run_without("landlock", at("w"), "--weaker-nested --deny-read dir/inner",
                                           "mv dir moved; cat dir/inner; mv two dir/three; cat dir/three");
    EXPECT_EQ(run.output(), "content of /two\n") << run.text;
}

TEST_F(WeakerSession, WhatThePolicyDoesNotAskForIsNotMissed) {
    host("echo '{\"filesystem\": {\"allowWrite\": [\".\"]}, \"network\": {\"disabled\": true}}' > w/settings");
    const CommandLineRun shared = run_without("netns", at("w"), "--settings settings", "echo ran");
    EXPECT_EQ(shared.output(), "ran\n") << shared.text;
}

TEST_F(WeakerSession, SeveralThingsAtOnce) {
    const std::string without = test_program("attack_without");
    const CommandLineRun both = run("ipcns '" + without + "' utsns '" + without + "' listener", "--weaker-nested");
    expect_walls(both);
    for (const char* mechanism : {"ipc", "uts", "denials", "names"})
        EXPECT_EQ(both.enforced(mechanism), "none") << mechanism;
}

TEST_F(WeakerSession, TheHostKeepsItsName) {
    if (!is_root()) GTEST_SKIP() << "root only: a user cannot change it anyway";
    char before[256]{};
    char after[256]{};
    ASSERT_EQ(::gethostname(before, sizeof before - 1), 0);
    const std::string without = test_program("attack_without");
    const CommandLineRun both = run_without("userns '" + without + "' utsns", at("w"), "--weaker-nested", "uname -n");
    ASSERT_EQ(::gethostname(after, sizeof after - 1), 0);
    EXPECT_STREQ(before, after);
    EXPECT_EQ(both.output(), std::string(before) + "\n") << both.text;
}

/// Root without a namespace of users is the machine's: what it may not do there it may not do.
TEST_F(WeakerSession, RootWithoutAUserNamespaceHasNoPower) {
    if (!is_root()) GTEST_SKIP() << "root only: users need that namespace";
    const CommandLineRun weaker =
        run_without("userns", at("w"), "--weaker-nested",
                    "grep -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status | tr -d '\\t\\n'; "
                    "python3 -I -S -c \"import os\nfor p in "
                    "'/proc/sys/kernel/core_pattern','/proc/sysrq-trigger','/dev/kmsg','/etc/shadow':\n"
                    "  try: os.close(os.open(p,os.O_WRONLY)); print('opened',p)\n  except OSError as e: pass\"");
    const std::string none = "0000000000000000";
    EXPECT_EQ(weaker.output(),
              "CapPrm:" + none + "CapEff:" + none + "CapBnd:" + none + "CapAmb:" + none + "NoNewPrivs:1")
        << weaker.text;
}

/// A connect that waits does so in a process of the init's that shares its descriptors, and all commands see it.
TEST_F(WeakerSession, NobodyGetsAnInitsDescriptors) {
    if (!is_root()) GTEST_SKIP() << "root only: users need that namespace";
    host("cat > w/look.py <<'END'\n"
         "import os, socket, subprocess, threading, time\n"
         "full = socket.socket(socket.AF_UNIX)\n"
         "full.bind('full.sock')\n"
         "full.listen(0)\n"
         "for i in range(3):\n"
         "    dial = socket.socket(socket.AF_UNIX)\n"
         "    threading.Thread(target=dial.connect, args=('full.sock',), daemon=True).start()\n"
         "child = subprocess.Popen(['sleep', '60'], stdin=open('two'))\n"
         "def others():\n"
         "    found = {int(name) for name in os.listdir('/proc') if name.isdigit()}\n"
         "    return sorted(found - {os.getpid(), child.pid})\n"
         "while len(others()) < 3: time.sleep(0.01)\n"
         "def try_open(pid, number):\n"
         "    try: os.open(f'/proc/{pid}/fd/{number}', os.O_RDWR)\n"
         "    except OSError: return\n"
         "    print('opened', 'child' if pid == child.pid else 'init', number, flush=True)\n"
         "for pid in others():\n"
         "    for number in range(64): try_open(pid, number)\n"
         "try_open(child.pid, 0)\n"
         "os.unlink('full.sock')\n"
         "os._exit(0)\n"
         "END");
    for (const char* what : {"userns", "none"}) {
        const CommandLineRun weaker = run_without(what, at("w"), "--weaker-nested", "exec python3 -I -S look.py");
        EXPECT_EQ(weaker.output(), "opened child 0\n") << what << weaker.text;
    }
}

TEST_F(WeakerSession, ExecutionAndSocketsAreNamedWhereTheyAreLess) {
    const CommandLineRun weaker =
        run_without("listener", at("w"), "--weaker-nested --allow-exec /bin/cat", "cat two; ls");
    EXPECT_EQ(weaker.output(), "content of /two\n") << weaker.text;
    EXPECT_EQ(weaker.enforced("execution"), "none");
    EXPECT_THAT(weaker.warnings(), HasSubstr("allowExecute"));
    host("echo '{\"network\": {\"allowUnixSockets\": [\"/run/x.sock\"]}}' > w/settings");
    const CommandLineRun sockets = run_without("listener", at("w"), "--weaker-nested --settings settings", "echo ran");
    EXPECT_EQ(sockets.output(), "ran\n") << sockets.text;
    EXPECT_EQ(sockets.enforced("unix_sockets"), "none") << sockets.text;
}

}  // namespace
}  // namespace sandpipe::testing
