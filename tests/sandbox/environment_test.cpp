#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

class Surroundings : public SandboxTest {};

/// Descriptors of the host that every child would inherit.
class LooseDescriptors {
  public:
    LooseDescriptors() {
        const int file = ::open("/etc/passwd", O_RDONLY);
        low_ = ::fcntl(file, F_DUPFD, 5);
        high_ = ::fcntl(file, F_DUPFD, 900);
        ::close(file);
        socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
        directory_ = ::open("/", O_RDONLY | O_DIRECTORY);
    }
    LooseDescriptors(const LooseDescriptors&) = delete;
    LooseDescriptors& operator=(const LooseDescriptors&) = delete;
    ~LooseDescriptors() {
        for (const int fd : {low_, high_, socket_, directory_}) ::close(fd);
    }
    [[nodiscard]] bool open() const { return low_ >= 5 && high_ >= 900 && socket_ >= 0 && directory_ >= 0; }

  private:
    int low_, high_, socket_, directory_;
};

TEST_F(Surroundings, OnlyThreeDescriptorsReachACommand) {
    const LooseDescriptors loose;
    ASSERT_TRUE(loose.open());
    Session session = open();
    EXPECT_EQ(session.sh("cd /proc/self/fd; echo *").out.substr(0, 5), "0 1 2");
    EXPECT_EQ(
        session
            .python("import os\nprint([f for f in range(3,4096) if os.path.lexists('/proc/self/fd/%d'%f) and "
                    "os.readlink('/proc/self/fd/%d'%f)!='/proc/self/fd'])")
            .out,
        "[]\n");
    // Of the other processes too. A shell between fork and exec has pipes of its own.
    const Ran ran = session.sh(
        "for f in /proc/[0-9]*/fd/*; do case $f in /proc/1/*) ;; *) readlink $f;; esac; done | "
        "grep -v -E '^(pipe:.*|/dev/null|/proc/[0-9]+/fd)$'");
    EXPECT_EQ(ran.out, "");
}

TEST_F(Surroundings, TheEnvironmentIsPathAndPlumbing) {
    ::setenv("AWS_SECRET_ACCESS_KEY", "attack", 1);
    ::setenv("LD_PRELOAD_X", "attack", 1);
    restart();  // the Runtime's snapshot is taken when it is made
    Session session = open();
    const Ran ran = session.sh("env | cut -d= -f1 | sort | grep -v -E '^(GIT_CONFIG_.*|PWD|SHLVL|_)$'");
    EXPECT_EQ(ran.out, "PATH\nTMPDIR\n");
    EXPECT_EQ(session.sh("env; cat /proc/*/environ /proc/1/cmdline 2>/dev/null").out.find("attack"),
              std::string::npos);
    ::unsetenv("AWS_SECRET_ACCESS_KEY");
    ::unsetenv("LD_PRELOAD_X");
}

TEST_F(Surroundings, SignalsOfTheHostAreNotInherited) {
    const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
    const auto tty_before = ::signal(SIGTTOU, SIG_IGN);
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigaddset(&blocked, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    Session session = open();
    EXPECT_EQ(session.sh("yes | head -1 > /dev/null; echo ${PIPESTATUS[0]}").out, "141\n");
    const Ran ran = session.run(command("/bin/grep").args("-E", "^Sig(Blk|Ign)", "/proc/self/status"));
    EXPECT_EQ(ran.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::signal(SIGPIPE, pipe_before);
    ::signal(SIGTTOU, tty_before);
}

TEST_F(Surroundings, TheCwdIsTheWorkspaceAndCanBeAnyVisiblePlace) {
    Session session = open();
    EXPECT_EQ(session.sh("pwd -P; readlink /proc/self/cwd; cat two").out,
              at("w") + "\n" + at("w") + "\ncontent of /two\n");
    EXPECT_EQ(session.run(session.shell("pwd -P; ls").cwd(at("o/dir"))).out, at("o/dir") + "\ndeep\ninner\n");
    EXPECT_EQ(session.run(session.shell("pwd -P").cwd("/usr/share")).out, "/usr/share\n");
}

TEST_F(Surroundings, LinksInTheCwdAreFollowedAsTheyComeAsForPlainCommands) {
    host("mkdir -p w/one/two && ln -s one/two w/way");
    Session session = open();
    for (const char* cwd : {"way/..", "./one", "one//"})
        EXPECT_EQ(session.run(session.shell("pwd -P").cwd(cwd)).out, at("w/one") + "\n") << cwd;
    EXPECT_EQ(session.run(session.shell("pwd -P").cwd(".")).out, at("w") + "\n");
}

TEST_F(Surroundings, ExitStatusesComeThrough) {
    Session session = open();
    EXPECT_EQ(session.sh("exit 42").code(), 42);
    const Ran killed = session.sh("kill -SEGV $$");
    EXPECT_EQ(std::get<Signaled>(killed.result.status).signal, SIGSEGV);
    const Ran terminated = session.run(command("/bin/sh").args("-c", "kill -TERM $$; sleep 5"));
    EXPECT_EQ(std::get<Signaled>(terminated.result.status).signal, SIGTERM);
    EXPECT_EQ(terminated.result.cause, Cause::finished);
}

TEST_F(Surroundings, PipesAreRealPipes) {
    Session session = open();
    EXPECT_EQ(session
                  .sh("echo a > /dev/stdout; echo b > /proc/self/fd/1; echo c >> /dev/fd/1; echo d | tee "
                      "/dev/stderr")
                  .out,
              "a\nb\nc\nd\n");
    EXPECT_EQ(session.run(session.shell("cat /dev/stdin").input(Input::bytes("in"))).out, "in");
    const Ran big = session.sh("head -c 20000000 /dev/zero");
    EXPECT_EQ(big.out.size(), 20'000'000u);
}

TEST_F(Surroundings, TheUserIsTheHostsUser) {
    Session session = open();
    const std::string id = std::to_string(::geteuid()) + " " + std::to_string(::getegid());
    EXPECT_EQ(session.sh("echo $(id -u) $(id -g)").out, id + "\n");
}

}  // namespace
}  // namespace sandpipe::testing
