#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include <sandpipe/unique_fd.hpp>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// What the host hands over as stdin, stdout or stderr was opened on mounts of the host's, where nothing of the policy
/// holds.
class StandardStreams : public SandboxTest {
  protected:
    Ran race(Session& session, const std::string& kind, const std::string& input) {
        return session.run(command(test_program("attack_race"))
                               .args(kind, "/proc/self/fd/0", std::to_string(rounds(1000)))
                               .input(Input::file(at(input)))
                               .cwd(at("w/arena")));
    }
    void make_arena() {
        host("mkdir w/arena; chmod 600 o/file");
        ignore_below("w/arena");
    }
};

TEST_F(StandardStreams, AFileForReadingCannotBeChanged) {
    make_arena();
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"two"};
    policy.filesystem.deny_read = {"../o/dir"};
    Session session = open(policy);
    for (const char* input : {"o/file", "w/two", "o/dir/inner"})
        for (const char* kind : {"descriptor", "stream"}) EXPECT_EQ(race(session, kind, input).out, "tried\n") << kind << input;
}

/// It is granted for writing to it, as it was opened.
TEST_F(StandardStreams, AFileForWritingKeepsItsMode) {
    make_arena();
    Session session = open();
    const auto mode = [&](const std::string& path) {
        struct stat found {};
        return ::stat(at(path).c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
    };
    const auto granted = mode("o/file");
    const unique_fd log(::open(at("o/file").c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
    for (const char* kind : {"mode-descriptor", "mode-path"})
        EXPECT_EQ(session.run(command(test_program("attack_race"))
                                  .args(kind, "/proc/self/fd/0", std::to_string(rounds(1000)))
                                  .input(Input::descriptor(log.get()))
                                  .cwd(at("w/arena")))
                      .out,
                  "tried\n")
            << kind;
    EXPECT_EQ(mode("o/file"), granted);
    const Ran ran = session.run(session.shell("echo more >&0; chmod 4777 /proc/self/fd/0").input(Input::descriptor(log.get())));
    EXPECT_NE(ran.code(), 0);
    EXPECT_EQ(ran.denied().size(), 1U) << ran.story;
    EXPECT_EQ(mode("o/file"), granted);
    expect_changes({"~ o/file"});
}

/// Its name is that of another place inside, where commands may write.
TEST_F(StandardStreams, AFileBelowTheHostsTmpIsNotTheSessions) {
    std::string name = "/tmp/sandpipe-test-XXXXXX";
    const unique_fd log(::mkostemp(name.data(), O_CLOEXEC));
    ASSERT_TRUE(log);
    Session session = open();
    const Ran ran = session.run(session.shell("echo more >&0; chmod 4777 /proc/self/fd/0").input(Input::descriptor(log.get())));
    struct stat found {};
    EXPECT_EQ(::fstat(log.get(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0600U);
    EXPECT_EQ(found.st_size, 5);
    EXPECT_EQ(ran.denied().size(), 1U) << ran.story;
    ::unlink(name.c_str());
}

TEST_F(StandardStreams, WhatTheHostGivesIsReadWhereItStands) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"../o"};
    Session session = open(policy);
    const Ran denied = session.sh("cat ../o/file");
    EXPECT_NE(denied.code(), 0);
    for (const char* input : {"o/file", "w/file"}) {
        const unique_fd file(::open(at(input).c_str(), O_RDONLY | O_CLOEXEC));
        ASSERT_EQ(::lseek(file.get(), 8, SEEK_SET), 8);
        const Ran ran = session.run(session.shell("read -r line; echo $line; cat").input(Input::descriptor(file.get())));
        EXPECT_EQ(ran.out, "of /file\n") << ran.err;
    }
    // In a root it is as by its name: stdin was opened for reading, its link in /proc leads to the file.
    EXPECT_EQ(session.run(session.shell("echo more >> /proc/self/fd/0 && tail -n 1").input(Input::file(at("w/two")))).out,
              "more\n");
    expect_changes({"~ w/two"});
}

TEST_F(StandardStreams, NoDirectory) {
    Session session = open();
    for (const int flags : {O_RDONLY, O_PATH}) {
        const unique_fd directory(::open(at("o").c_str(), flags | O_DIRECTORY | O_CLOEXEC));
        const Ran ran = session.run(command("/bin/ls").args("/proc/self/fd/0/..").input(Input::descriptor(directory.get())));
        const auto* failure = std::get_if<NotStarted>(&ran.result.status);
        ASSERT_NE(failure, nullptr) << ran.out;
        EXPECT_EQ(to_string(failure->stage), "input");
        EXPECT_EQ(failure->error, std::errc::is_a_directory);
        EXPECT_EQ(failure->path, "stdin");
    }
    EXPECT_EQ(session.sh("echo next").out, "next\n");
}

TEST_F(StandardStreams, AFifoAndATerminalWork) {
    host("mkfifo o/fifo");
    Session session = open();
    const unique_fd held(::open(at("o/fifo").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::write(held.get(), "line\n", 5), 5);
    const Ran ran = session.run(session.shell("read -r line; echo $line; chmod 777 ../o/fifo").input(Input::file(at("o/fifo"))));
    EXPECT_EQ(ran.out, "line\n") << ran.err;
    EXPECT_EQ(session.run(session.shell("echo back").out(Output::descriptor(held.get()))).code(), 0);
    char back[5] = {};
    EXPECT_EQ(::read(held.get(), back, sizeof back), 5);
    EXPECT_EQ(session.run(session.shell("echo lost").out(Output::discard())).code(), 0);
    const unique_fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(::grantpt(terminal.get()) == 0 && ::unlockpt(terminal.get()) == 0);
    const unique_fd other(::open(::ptsname(terminal.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(other);
    EXPECT_EQ(session.run(session.shell("test -t 0 && echo terminal").input(Input::descriptor(other.get()))).out, "terminal\n");
}

TEST_F(StandardStreams, AFileForWritingIsWritten) {
    host("echo first > o/log");
    Session session = open();
    const auto run = [&](const char* line) {
        return session.run(session.shell(line).out(Output::file(at("o/log"), FileMode::append)));
    };
    EXPECT_EQ(run("echo second").code(), 0);
    EXPECT_NE(run("echo third > ../o/log").code(), 0);
    host("printf 'first\\nsecond\\n' | cmp - o/log");
    expect_changes({"~ o/log"});
}

}  // namespace
}  // namespace sandpipe::testing
