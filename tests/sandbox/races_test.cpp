#include <filesystem>
#include <stop_token>
#include <thread>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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
    Ran race(Session& session, const std::string& kind, const std::string& forbidden, int count) {
        return session.run(command(test_program("attack_race"))
                               .args(kind, forbidden, std::to_string(count))
                               .cwd(at("w/arena")));
    }
    void expect_no_win(const Ran& ran) {
        EXPECT_EQ(ran.result.cause, Cause::finished);
        EXPECT_EQ(ran.out, "tried\n") << ran.err;
    }
};

TEST_F(Races, FlippedLinks) {
    Session session = open(denying());
    for (const char* place : {"../../o", "../denied"})
        expect_no_win(race(session, "links", place, rounds(1200)));
}

TEST_F(Races, FlippedMemory) {
    // Halves of both paths may be read together: "../n", and "../x" by a link made there.
    ignore_below("w/n");
    ignore_below("w/x");
    Session session = open(denying());
    for (const char* place : {"../../o/won", "../denied/won", "../no"})
        expect_no_win(race(session, "memory", place, rounds(2000)));
}

TEST_F(Races, FlippedMemoryOfExistingFiles) {
    Session session = open(denying());
    for (const char* place : {"../../o/file", "../denied/file", "../kept"})
        expect_no_win(race(session, "existing", place, rounds(2000)));
}

TEST_F(Races, FlippedMemoryOfWhatTheHostReplaced) {
    Session session = open(denying());
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo newer > w/kept.tmp; mv w/kept.tmp w/kept");
    seal();
    expect_no_win(race(session, "existing", "../kept", rounds(2000)));
}

TEST_F(Races, FlippedMemoryOfWhatTheHostMade) {
    Session session = open(denying());
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo made > w/no");
    seal();
    expect_no_win(race(session, "existing", "../no", rounds(2000)));
}

TEST_F(Races, FlippedDirectories) {
    Session session = open(denying());
    for (const char* place : {"../../o", "../denied"})
        expect_no_win(race(session, "directories", place, rounds(1200)));
}

TEST_F(Races, DeniedNamesComeNotByRenamesOfTwoCommands) {
    Session session = open(denying());
    Running first = session.start(command(test_program("attack_race"))
                                      .args("bring", "d/no", std::to_string(rounds(1000)))
                                      .cwd(at("w/arena")));
    Running second = session.start(command(test_program("attack_race"))
                                       .args("shuffle", "d/no", std::to_string(rounds(1000)))
                                       .cwd(at("w/arena")));
    expect_no_win(first.finish());
    expect_no_win(second.finish());
    EXPECT_FALSE(std::filesystem::exists(at("w/arena/d/no")));
}

TEST_F(Races, TwoCommandsFlipForEachOther) {
    Session session = open(denying());
    Running first = session.start(command(test_program("attack_race"))
                                      .args("flip_only", "../../o", std::to_string(rounds(2000)))
                                      .cwd(at("w/arena")));
    Running second = session.start(command(test_program("attack_race"))
                                       .args("make_only", "../../o", std::to_string(rounds(2000)))
                                       .cwd(at("w/arena")));
    expect_no_win(second.finish());
    expect_no_win(first.finish());
}

TEST_F(Races, TheHostFlips) {
    Session session = open(denying());
    Running running = session.start(command(test_program("attack_race"))
                                        .args("make_only", "../../o", std::to_string(rounds(2000)))
                                        .cwd(at("w/arena")));
    // The host has its own reasons to replace a directory by a link and back.
    const std::jthread flipper([arena = at("w/arena")](std::stop_token over) {
        std::error_code ignored;
        std::filesystem::create_directory(arena + "/flip-dir", ignored);
        std::filesystem::create_symlink("../../o", arena + "/flip", ignored);
        while (!over.stop_requested())
            ::renameat2(AT_FDCWD, (arena + "/flip").c_str(), AT_FDCWD, (arena + "/flip-dir").c_str(),
                        RENAME_EXCHANGE);
    });
    expect_no_win(running.finish());
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

}  // namespace
}  // namespace sandpipe::testing
