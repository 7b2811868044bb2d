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
        for (const char* kind : {"descriptor", "stream"})
            EXPECT_EQ(race(session, kind, input).out, "tried\n") << kind << input;
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
    const Ran ran =
        session.run(session.shell("echo more >&0; chmod 4777 /proc/self/fd/0").input(Input::descriptor(log.get())));
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
    const Ran ran =
        session.run(session.shell("echo more >&0; chmod 4777 /proc/self/fd/0").input(Input::descriptor(log.get())));
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
        const Ran ran =
            session.run(session.shell("read -r line; echo $line; cat").input(Input::descriptor(file.get())));
        EXPECT_EQ(ran.out, "of /file\n") << ran.err;
    }
    // In a root it is as by its name: stdin was opened for reading, its link in /proc leads to the file.
    EXPECT_EQ(
        session.run(session.shell("echo more >> /proc/self/fd/0 && tail -n 1").input(Input::file(at("w/two")))).out,
        "more\n");
    expect_changes({"~ w/two"});
}

TEST_F(StandardStreams, NoDirectory) {
    Session session = open();
    for (const int flags : {O_RDONLY, O_PATH}) {
        const unique_fd directory(::open(at("o").c_str(), flags | O_DIRECTORY | O_CLOEXEC));
        const Ran ran =
            session.run(command("/bin/ls").args("/proc/self/fd/0/..").input(Input::descriptor(directory.get())));
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
    const Ran ran =
        session.run(session.shell("read -r line; echo $line; chmod 777 ../o/fifo").input(Input::file(at("o/fifo"))));
    EXPECT_EQ(ran.out, "line\n") << ran.err;
    EXPECT_EQ(session.run(session.shell("echo back").out(Output::descriptor(held.get()))).code(), 0);
    char back[5] = {};
    EXPECT_EQ(::read(held.get(), back, sizeof back), 5);
    EXPECT_EQ(session.run(session.shell("echo lost").out(Output::discard())).code(), 0);
    const unique_fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(::grantpt(terminal.get()) == 0 && ::unlockpt(terminal.get()) == 0);
    const unique_fd other(::open(::ptsname(terminal.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(other);
    EXPECT_EQ(session.run(session.shell("test -t 0 && echo terminal").input(Input::descriptor(other.get()))).out,
              "terminal\n");
}

/// A file that the host names is opened by the host, where no mount holds; so no link of a command's is followed to
/// where the command itself may not go.
TEST_F(StandardStreams, LinksOfCommandsDoNotLeadTheHost) {
    host("git init -q w && rm -f w/.git/hooks/*; echo hidden > w/secret; ln -s ../o o/self; ln -s ../w o/way");
    ignore_below("w");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"secret"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("ln -s ../o/file out; ln -s secret in; ln -s ../o up; ln -s .git/hooks/post-commit hook; "
                         "ln -s two good; ln -s new fresh; ln -s ../o/made far").code(), 0);
    const auto refused = [&](const Ran& ran) {
        const auto* failure = std::get_if<NotStarted>(&ran.result.status);
        return failure && failure->error == std::errc::too_many_symbolic_link_levels &&
               failure->hint.find("name the file itself") != std::string::npos;
    };
    for (const char* path : {"w/out", "w/in", "w/up/file", "o/way/out", "w/dir/../out"})
        EXPECT_TRUE(refused(session.run(session.shell("cat").input(Input::file(at(path)))))) << path;
    for (const char* path : {"w/out", "w/hook", "w/far", "w/up/file", "o/way/hook"})
        for (const FileMode mode : {FileMode::append, FileMode::truncate}) {
            EXPECT_TRUE(refused(session.run(session.shell("echo evil").out(Output::file(at(path), mode))))) << path;
            EXPECT_TRUE(refused(session.run(session.shell("echo evil >&2").err(Output::file(at(path), mode))))) << path;
        }
    // Links of the host's, links within, and what the host names by itself.
    const auto text = [&](const std::string& path) {
        return session.run(session.shell("cat").input(Input::file(path))).out;
    };
    EXPECT_EQ(text(at("w/good")), "content of /two\n");
    EXPECT_EQ(text(at("o/self/file")), "content of /file\n");
    EXPECT_EQ(text(at("o/way/good")), "content of /two\n");
    EXPECT_EQ(text(at("w/dir/../../o/file")), "content of /file\n");
    EXPECT_EQ(text(at("w/secret")), "hidden\n");
    EXPECT_EQ(session.run(session.shell("echo made").out(Output::file(at("w/fresh"), FileMode::truncate))).code(), 0);
    EXPECT_EQ(text(at("w/new")), "made\n");
    host("test ! -e w/.git/hooks/post-commit && test ! -e o/made");
}

TEST_F(StandardStreams, WhatHasNoPathIsNamedByTheHostAllTheSame) {
    Session session = open();
    const unique_fd file(::open(at("o/file").c_str(), O_RDONLY | O_CLOEXEC));
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(::write(ends[1], "piped\n", 6), 6);
    ::close(ends[1]);
    const auto text = [&](int fd, const char* of) {
        return session.run(session.shell("cat").input(Input::file(of + std::to_string(fd)))).out;
    };
    EXPECT_EQ(text(file.get(), "/proc/self/fd/"), "content of /file\n");
    EXPECT_EQ(text(file.get(), "/dev/fd/"), "content of /file\n");
    const unique_fd keep(::open(("/proc/self/fd/" + std::to_string(ends[0])).c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(
        session.run(session.shell("read -r l; echo $l").input(Input::file("/dev/fd/" + std::to_string(ends[0])))).out,
        "piped\n");
    ::close(ends[0]);
    EXPECT_EQ(session.run(session.shell("echo x").out(Output::file("/dev/null", FileMode::append))).code(), 0);
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
