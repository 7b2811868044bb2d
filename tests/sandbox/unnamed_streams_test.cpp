#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <functional>

#include <sandpipe/unique_fd.hpp>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// Standard streams that are files without a name: nothing of a mount protects them, and no name is judged.
class UnnamedStreams : public SandboxTest {
  protected:
    using Make = std::function<unique_fd()>;

    /// One file, open for reading and writing, with "precious" in it.
    std::vector<std::pair<std::string, Make>> kinds() {
        const auto filled = [](int fd) {
            EXPECT_EQ(::write(fd, "precious\n", 9), 9);
            EXPECT_EQ(::fchmod(fd, 0600), 0);
            return unique_fd(fd);
        };
        return {{"unlinked",
                 [this, filled] {
                     const std::string path = at("o/gone");
                     unique_fd file = filled(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
                     EXPECT_EQ(::unlink(path.c_str()), 0);
                     return file;
                 }},
                {"in the workspace", [this, filled] {
                     return filled(::open(at("w").c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
                 }},
                {"memfd", [filled] { return filled(::memfd_create("host", MFD_CLOEXEC)); }}};
    }
    static unique_fd reader(const unique_fd& file) {
        return unique_fd(::open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDONLY | O_CLOEXEC));
    }
    struct Facts {
        std::string content;
        mode_t mode;
        time_t changed;
        bool attribute;
        friend bool operator==(const Facts&, const Facts&) = default;
    };
    static Facts facts(const unique_fd& file) {
        char bytes[64] = {};
        struct stat found {};
        EXPECT_EQ(::fstat(file.get(), &found), 0);
        EXPECT_GE(::pread(file.get(), bytes, sizeof bytes - 1, 0), 0);
        return {bytes, found.st_mode & 07777, found.st_mtim.tv_sec, ::fgetxattr(file.get(), "user.x", nullptr, 0) >= 0};
    }
};

constexpr const char* kChangeAll =
    "import os, sys\n"
    "n = int(sys.argv[1]); p = '/proc/self/fd/%d' % n\n"
    "def t(f, *a):\n"
    "  try: f(*a)\n"
    "  except OSError: pass\n"
    "for to in (p, n):\n"
    "  t(os.truncate, to, 3); t(os.utime, to, (7, 7)); t(os.chmod, to, 0o4777); t(os.setxattr, to, 'user.x', b'y')\n"
    "def w():\n"
    "  with open(p, 'r+b', buffering=0) as f: f.write(b'evil')\n"
    "t(w)\n"
    "print('tried', file=sys.stderr if n == 1 else sys.stdout)\n";

BinaryInvocation change_all(int number) {
    return command("/usr/bin/python3").args("-c", kChangeAll, std::to_string(number));
}

TEST_F(UnnamedStreams, WhatIsGivenForReadingCannotBeChanged) {
    Session session = open();
    for (const auto& [kind, make] : kinds()) {
        const unique_fd file = make();
        const unique_fd given = reader(file);
        const Facts before = facts(file);
        EXPECT_EQ(session.run(change_all(0).input(Input::descriptor(given.get()))).out, "tried\n") << kind;
        EXPECT_EQ(facts(file), before) << kind << " as stdin";
        EXPECT_EQ(session.run(change_all(1).out(Output::descriptor(given.get()))).err, "tried\n") << kind;
        EXPECT_EQ(facts(file), before) << kind << " as stdout";
        EXPECT_EQ(session.run(change_all(2).err(Output::descriptor(given.get()))).out, "tried\n") << kind;
        EXPECT_EQ(facts(file), before) << kind << " as stderr";
    }
}

/// What was judged is exchanged before the kernel looks at it.
TEST_F(UnnamedStreams, NorByWinningARace) {
    host("mkdir w/arena");
    ignore_below("w/arena");
    Session session = open();
    for (const auto& [name, make] : kinds()) {
        const unique_fd file = make();
        const unique_fd given = reader(file);
        const Facts before = facts(file);
        for (const char* kind : {"descriptor", "stream"})
            EXPECT_FALSE(session.run(command(test_program("attack_race"))
                                         .args(kind, "/proc/self/fd/0", std::to_string(rounds(300)))
                                         .input(Input::descriptor(given.get()))
                                         .cwd(at("w/arena")))
                             .out.empty())
                << name << kind;
        // Of its copy it may do what it likes.
        EXPECT_EQ(facts(file), before) << name;
    }
}

/// As a shell's here-document is given.
TEST_F(UnnamedStreams, ItIsReadFromWhereItStands) {
    Session session = open();
    for (const auto& [kind, make] : kinds()) {
        const unique_fd file = make();
        const unique_fd given = reader(file);
        ASSERT_EQ(::lseek(given.get(), 3, SEEK_SET), 3);
        const auto run = [&](const char* line) {
            return session.run(session.shell(line).input(Input::descriptor(given.get())));
        };
        EXPECT_EQ(run("cat").out, "cious\n") << kind;
        EXPECT_EQ(run("read -r a; echo $a; cat /proc/self/fd/0").out, "cious\nprecious\n") << kind;
        EXPECT_NE(run("echo evil >> /proc/self/fd/0").code(), 0) << kind;
        EXPECT_NE(run("printf evil >&0").code(), 0) << kind;
    }
}

TEST_F(UnnamedStreams, AHereDocumentOfTheHost) {
    host(
        "printf '#!/bin/bash\\nexec \"$@\" <<END\\n' > o/doc; head -c 300000 /dev/zero | tr '\\0' x | fold -w 99 >> "
        "o/doc; "
        "printf '\\nEND\\n' >> o/doc; chmod 755 o/doc");
    const std::string line = "cd " + at("w") + " && bash ../o/doc " + test_program("sandpipe") +
                             " run --allow-write . --stdin - -c 'wc -c' > ../o/counted";
    host("touch o/counted");
    host(line);
    EXPECT_EQ(std::stoi(read_file(at("o/counted"))), 300000 + 300000 / 99 + 1);
}

TEST_F(UnnamedStreams, WhatIsGivenForWritingKeepsItsMode) {
    Session session = open();
    for (const auto& [kind, make] : kinds()) {
        const unique_fd file = make();
        const Ran ran = session.run(
            session.shell("echo more >&1; chmod 4777 /proc/self/fd/1").out(Output::descriptor(file.get())));
        EXPECT_NE(ran.code(), 0) << kind;
        EXPECT_EQ(ran.denied().size(), 1U) << kind << ran.story;
        EXPECT_EQ(facts(file).mode, 0600U) << kind;
        EXPECT_EQ(facts(file).content, "precious\nmore\n") << kind;
        // A command's own are not meant.
        const Ran own = session.run(
            Session::python_command("import os\nf = os.memfd_create('own')\nos.fchmod(f, 0o640)\n"
                                    "g = os.open('.', os.O_TMPFILE | os.O_RDWR)\nos.fchmod(g, 0o640)\n"
                                    "print('changed', oct(os.fstat(f).st_mode & 0o7777))")
                .err(Output::descriptor(file.get())));
        EXPECT_EQ(own.out, "changed 0o640\n") << kind << own.err;
    }
}

TEST_F(UnnamedStreams, AFileThatIsUnlinkedMeanwhileKeepsItsMode) {
    host("echo x > o/log; chmod 600 o/log; mkfifo o/go");
    Session session = open();
    const unique_fd log(::open(at("o/log").c_str(), O_RDWR | O_CLOEXEC));
    Running running = session.start(session.shell("echo up; read -r line < ../o/go; chmod 4777 /proc/self/fd/0")
                                        .input(Input::descriptor(log.get())));
    running.await_output("up");
    host("rm o/log; echo > o/go");
    EXPECT_NE(running.finish().code(), 0);
    EXPECT_EQ(facts(log).mode, 0600U);
    expect_changes({"- o/log"});
}

TEST_F(UnnamedStreams, AFifoThatWasUnlinkedIsReadAndKeepsItsMode) {
    host("mkfifo -m 600 o/fifo");
    Session session = open();
    const unique_fd held(::open(at("o/fifo").c_str(), O_RDWR | O_CLOEXEC));
    const unique_fd given(::open(at("o/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    host("rm o/fifo");
    ASSERT_EQ(::write(held.get(), "line\n", 5), 5);
    const Ran ran = session.run(
        session.shell("read -r line; echo $line; chmod 4777 /proc/self/fd/0").input(Input::descriptor(given.get())));
    EXPECT_EQ(ran.out, "line\n") << ran.err;
    EXPECT_NE(ran.code(), 0);
    struct stat found {};
    ASSERT_EQ(::fstat(held.get(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0600U);
    expect_changes({"- o/fifo"});
}

TEST_F(UnnamedStreams, TooMuchToCopyIsARefusalThatSaysSo) {
    Session session = open();
    const unique_fd file(::memfd_create("large", MFD_CLOEXEC));
    const unique_fd given = reader(file);
    ASSERT_EQ(::ftruncate(file.get(), 64 << 20), 0);
    EXPECT_EQ(session.run(session.shell("wc -c").input(Input::descriptor(given.get()))).out, "67108864\n");
    ASSERT_EQ(::ftruncate(file.get(), (64 << 20) + 1), 0);
    const Ran ran = session.run(session.shell("wc -c").input(Input::descriptor(given.get())));
    const auto* failure = std::get_if<NotStarted>(&ran.result.status);
    ASSERT_NE(failure, nullptr) << ran.out;
    EXPECT_EQ(failure->error, std::errc::file_too_large);
    EXPECT_NE(failure->hint.find("64 MiB"), std::string::npos) << failure->hint;
    EXPECT_EQ(session.sh("echo next").out, "next\n");
}

TEST_F(UnnamedStreams, WhatCannotBeOpenedAgainIsRefusedWithoutAWordOfSockets) {
    Session session = open();
    const unique_fd given(::open("/proc/self/environ", O_RDONLY | O_CLOEXEC));
    const Ran ran = session.run(session.shell("cat").input(Input::descriptor(given.get())));
    const auto* failure = std::get_if<NotStarted>(&ran.result.status);
    ASSERT_NE(failure, nullptr) << ran.out;
    EXPECT_EQ(failure->hint.find("socket"), std::string::npos) << failure->hint;
    EXPECT_NE(failure->hint.find("opened anew"), std::string::npos) << failure->hint << failure->error;
}

}  // namespace
}  // namespace sandpipe::testing
