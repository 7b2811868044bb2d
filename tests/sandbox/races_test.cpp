#include <filesystem>
#include <functional>
#include <stop_token>
#include <thread>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sandpipe/unique_fd.hpp>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// The command and the host change links, names and memory while calls on them are judged. The directory `o`
/// and the denied places must stay as they are, whoever wins; the fixture compares them.
class Races : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        host(
            "mkdir w/arena w/arena/a && echo x > w/arena/a/file && mkdir w/denied && echo kept > "
            "w/denied/file && echo kept > w/kept");
        ignore_below("w/arena");
    }
    SandboxPolicy denying() {
        SandboxPolicy policy = writable();
        policy.filesystem.deny_write = {"denied", "kept", "no", "arena/d/no"};
        return policy;
    }
    /// With SANDPIPE_ROUNDS=10 each race has ten thousand rounds.
    Running start_race(Session& session, const std::string& kind, const std::string& forbidden) {
        return session.start(command(test_program("attack_race"))
                                 .args(kind, forbidden, std::to_string(rounds(1000)))
                                 .cwd(at("w/arena")));
    }
    Ran race(Session& session, const std::string& kind, const std::string& forbidden) {
        return start_race(session, kind, forbidden).finish();
    }
    void expect_no_win(const Ran& ran) {
        EXPECT_EQ(ran.result.cause, Cause::finished);
        EXPECT_EQ(ran.out, "tried\n") << ran.err;
    }
};

TEST_F(Races, FlippedLinks) {
    Session session = open(denying());
    for (const char* place : {"../../o", "../denied"}) expect_no_win(race(session, "links", place));
}

TEST_F(Races, FlippedMemory) {
    // Halves of both paths may be read together: "../n", and "../x" by a link made there.
    ignore_below("w/n");
    ignore_below("w/x");
    Session session = open(denying());
    for (const char* place : {"../../o/won", "../denied/won", "../no"})
        expect_no_win(race(session, "memory", place));
}

TEST_F(Races, FlippedMemoryOfExistingFiles) {
    Session session = open(denying());
    for (const char* place : {"../../o/file", "../denied/file", "../kept"})
        expect_no_win(race(session, "existing", place));
}

TEST_F(Races, FlippedMemoryOfWhatTheHostReplaced) {
    Session session = open(denying());
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo newer > w/kept.tmp; mv w/kept.tmp w/kept");
    seal();
    expect_no_win(race(session, "existing", "../kept"));
}

TEST_F(Races, FlippedMemoryOfWhatTheHostMade) {
    Session session = open(denying());
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo made > w/no");
    seal();
    expect_no_win(race(session, "existing", "../no"));
}

/// What comes to be denied while the command runs has no mount over it.
TEST_F(Races, FlippedMemoryOfWhatTheHostMakesMeanwhile) {
    ignore_below("w/no");
    Session session = open(denying());
    Running running = start_race(session, "existing", "../no");
    host("echo made > w/no.tmp; mv w/no.tmp w/no");
    expect_no_win(running.finish());
}

TEST_F(Races, FlippedDirectories) {
    Session session = open(denying());
    for (const char* place : {"../../o", "../denied"}) expect_no_win(race(session, "directories", place));
}

TEST_F(Races, RenamedDirectories) {
    host("mkdir -p w/arena/up/d");
    Session session = open(denying());
    expect_no_win(race(session, "renames", "../no"));
}

TEST_F(Races, DeniedNamesComeNotByRenamesOfTwoCommands) {
    Session session = open(denying());
    Running first = start_race(session, "bring", "d/no");
    Running second = start_race(session, "shuffle", "d/no");
    expect_no_win(first.finish());
    expect_no_win(second.finish());
    EXPECT_FALSE(std::filesystem::exists(at("w/arena/d/no")));
}

TEST_F(Races, OneCommandFlipsForAnother) {
    host("mkdir -p w/arena/up/d");
    Session session = open(denying());
    for (const std::string kind : {"links", "directories", "renames"}) {
        Running first = start_race(session, "flip-" + kind, "../../o");
        Running second = start_race(session, "act-" + kind, "../../o");
        expect_no_win(second.finish());
        expect_no_win(first.finish());
    }
}

/// Each has a lock of its own: a name is made in a directory that the other session moves.
TEST_F(Races, TwoSessionsOnOneTree) {
    SandboxPolicy policy = denying();
    policy.filesystem.deny_write = {"arena/m/n", "arena/m/*.key"};
    host("touch w/arena/mine");
    Session one = open(policy);
    Session two = open(policy);
    Running flips = start_race(two, "nested-flips", "../no");
    Running acts = start_race(one, "nested", "../no");
    expect_no_win(acts.finish());
    expect_no_win(flips.finish());
    host("test ! -e w/arena/m/n && test ! -e w/arena/m/k.key");
    // The same acts are nobody's matter elsewhere.
    EXPECT_EQ(one.sh("mkdir e && mkdir e/n && mv e f && mv f/n f/o && rmdir f/o f").code(), 0);
}

/// The host has its own reasons to move things, and no lock to hold.
class HostFlips {
  public:
    HostFlips(const std::string& arena, const std::function<void(int)>& flip)
        : thread_([arena, flip](std::stop_token over) {
              const unique_fd directory(::open(arena.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
              while (!over.stop_requested()) flip(directory.get());
          }) {}

  private:
    std::jthread thread_;
};

TEST_F(Races, TheHostFlipsLinks) {
    Session session = open(denying());
    Running running = start_race(session, "act-links", "../../o");
    const HostFlips flips(at("w/arena"), [](int arena) {
        ::symlinkat("../../o", arena, "l1");
        ::renameat(arena, "l1", arena, "l");
        ::symlinkat("a", arena, "l2");
        ::renameat(arena, "l2", arena, "l");
    });
    expect_no_win(running.finish());
}

TEST_F(Races, TheHostFlipsDirectories) {
    host("mkdir w/arena/flip-dir; ln -s ../../o w/arena/flip");
    Session session = open(denying());
    Running running = start_race(session, "act-directories", "../../o");
    const HostFlips flips(at("w/arena"),
                          [](int arena) { ::renameat2(arena, "flip", arena, "flip-dir", RENAME_EXCHANGE); });
    expect_no_win(running.finish());
}

TEST_F(Races, TheHostRenamesDirectories) {
    host("mkdir -p w/arena/up/d");
    Session session = open(denying());
    Running running = start_race(session, "act-renames", "../no");
    const HostFlips flips(at("w/arena"), [](int arena) {
        ::renameat(arena, "up/d", arena, "d");
        ::renameat(arena, "d", arena, "up/d");
    });
    expect_no_win(running.finish());
}

// Two sessions have no lock in common: what the one makes settings of, the other could have open by a name that is
// not theirs yet.
TEST_F(Races, AnotherSessionReachesNoNewSettings) {
    ignore_below("w/.git");
    SandboxPolicy policy = denying();
    policy.filesystem.allow_git_init = true;
    Session making = open(policy);
    Session other = open(denying());
    Running attacker = other.start(Session::python_command(R"(
import os
print('up', flush=True)
while not os.path.exists('arena/over'):
    for name in 'config.lock', 'config.worktree', 'config':
        try: fd = os.open('.git/' + name, os.O_WRONLY)
        except OSError: continue
        os.write(fd, b'[core]\n\tfsmonitor = x\n'); os.close(fd)
)").timeout(std::chrono::minutes(5)));
    attacker.await_output("up");
    const Ran ran = making.python("ROUNDS = " + std::to_string(rounds(500)) + R"(
import os
won = made = 0
for i in range(ROUNDS):
    os.mkdir('.git')
    with open('.git/config.lock', 'w') as lock: lock.write('[core]\n\tbare = false\n')
    try:
        os.rename('.git/config.lock', '.git/config')
        made += 1
        won += 'fsmonitor' in open('.git/config').read()
        os.unlink('.git/config')
    except PermissionError: os.unlink('.git/config.lock')  # the other was there before
    os.rmdir('.git')
open('arena/over', 'w')
print(won, 'won', made > 0)
)");
    EXPECT_EQ(ran.out, "0 won True\n") << ran.err;
    EXPECT_EQ(attacker.finish().result.cause, Cause::finished);
}

TEST_F(Races, StormsOfSignalsInterruptNothing) {
    Session session = open(denying());
    const Ran ran =
        session.run(command(test_program("attack_signals")).args(std::to_string(rounds(1000))).cwd(at("w/arena")));
    EXPECT_EQ(ran.out, "0 wrong\n") << ran.err;
    EXPECT_EQ(ran.code(), 0);
}

TEST_F(Races, TheHostMakesAndRemovesAProtectedNameDuringStarts) {
    host("git init -q w");
    ignore_below("w/.git");
    Session session = open();
    std::jthread toucher([lock = at("w/.git/config.lock"), file = at("w/.vscode")](std::stop_token over) {
        while (!over.stop_requested()) {
            write_file(lock, "x");
            std::filesystem::remove(lock);
            ::mkdir(file.c_str(), 0755);
            ::rmdir(file.c_str());
        }
    });
    int failed = 0;
    for (int i = 0; i < rounds(60); ++i) failed += session.sh("true").code() == 0 ? 0 : 1;
    for (int i = 0; i < rounds(10); ++i) failed += open().sh("true").code() == 0 ? 0 : 1;
    toucher = {};  // stopped and joined
    EXPECT_EQ(failed, 0);
}

/// The plan that named it is made again.
TEST_F(Races, AProtectedDirectoryIsReplacedWhileSessionsStart) {
    ignore_below("w/flips");
    ignore_below("w/flips2");
    host("mkdir w/flips; echo kept > w/flips/file");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"flips"};
    seal();
    const std::string name = at("w/flips");
    const std::string other = at("w/flips2");
    std::jthread flips([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            (void)::rename(name.c_str(), other.c_str());
            (void)::symlink("flips2", name.c_str());
            (void)::unlink(name.c_str());
            (void)::rename(other.c_str(), name.c_str());
        }
    });
    for (int i = 0; i < rounds(40); ++i) EXPECT_EQ(refusal(policy), "") << i;
}

}  // namespace
}  // namespace sandpipe::testing
