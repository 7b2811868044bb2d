#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sandpipe/error.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/unique_fd.hpp>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "support/machine_without.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Lines = std::vector<std::string>;

/// Each test lowers what may be used of this machine, and makes its Runtime then.
class Features : public SandboxTest {
  protected:
    /// A policy without any name that only a supervisor could protect.
    static SandboxPolicy reading() {
        SandboxPolicy policy;
        policy.filesystem.deny_read = {"../o/file"};
        return policy;
    }
    std::string reported(Session& session, const char* mechanism) {
        const Mechanism* found = session.enforcer()->enforcement().find(mechanism);
        return found ? std::string(to_string(found->enforced)) : "missing";
    }
    std::string detail(Session& session, const char* mechanism) {
        const Mechanism* found = session.enforcer()->enforcement().find(mechanism);
        return found ? found->detail : "missing";
    }
    std::string file_acts(Session& session) {
        std::string all;
        for (const std::string& answer :
             act(session, at("w"),
                 {"create @/n1", "overwrite @/n1", "creat @/n2", "create_read @/n3", "openat2_create @/n4",
                  "create @/n1", "mkdir @/d", "rename @/n1 @/d/n1", "link @/n2 @/d/n2", "symlink x @/s",
                  "unlink @/d/n2", "unlink @/n2", "unlink @/n3", "unlink @/n4", "unlink @/s"}))
            all += answer + " ";
        return all;
    }
};

TEST_F(Features, TheWordsAreChecked) {
    const CommandLineRun run = run_without("none", at("w"), "", "true", "SANDPIPE_TEST_WITHOUT=gravity");
    EXPECT_EQ(run.status, 125);
    EXPECT_THAT(run.failure(), HasSubstr("landlock>N"));
    EXPECT_EQ(run_without("none", at("w"), "", "true", "SANDPIPE_TEST_WITHOUT=").status, 0);
}

TEST_F(Features, WithoutLandlockNoSessionStarts) {
    const Without landlock("landlock");
    restart();
    const std::string text = refusal(writable());
    EXPECT_THAT(text, HasSubstr("E_SANDBOX_UNSUPPORTED_ENV"));
    EXPECT_THAT(text, HasSubstr("lsm=landlock"));
    SandboxPolicy policy;
    policy.filesystem.disabled = true;
    EXPECT_EQ(open(policy).sh("echo runs").out, "runs\n") << "what needs no Landlock starts";
}

TEST_F(Features, OldVersionsOfLandlockProtectTheSame) {
    for (const int abi : {1, 2, 3, 4, 5, 6}) {
        SCOPED_TRACE(abi);
        const Without newer("landlock>" + std::to_string(abi));
        restart();
        SandboxPolicy policy = writable();
        policy.filesystem.deny_write = {"dir/inner", "later", "*.key"};
        Session session = open(policy);
        EXPECT_THAT(detail(session, "landlock"), HasSubstr("ABI " + std::to_string(abi)));
        EXPECT_EQ(reported(session, "landlock"), abi < 3 ? "partial" : "full");
        expect_twins(session, "EROFS", at("o"), "/tmp",
                     {"create @/new1", "mkdir @/new2", "symlink x @/new3", "node @/new4"});
        expect_acts(session, "EROFS", at("o"), {"truncate @/file", "cut @/file", "write @/file", "unlink @/two"});
        expect_acts(session, "EACCES", at("w"),
                    {"truncate @/dir/inner", "write @/dir/inner", "create @/later", "mkdir @/later",
                     "create @/a.key", "rename @/dir @/gone", "unlink @/dir/inner"});
        EXPECT_EQ(session.sh("echo x > in; mv in in2; rm in2; kill -KILL 1; kill -TERM 1; sleep .05; echo alive").out,
                  "alive\n");
    }
}

TEST_F(Features, BeforeReferNothingMovesToAnotherDirectory) {
    ignore_below("w");
    Session now = open();
    EXPECT_EQ(now.sh("rm -rf /tmp/*").code(), 0);
    EXPECT_EQ(file_acts(now), "ok ok ok ok ok EEXIST ok ok ok ok ok ok ok ok ok ");
    host("rm -rf w/d");
    const Without refer("landlock>1");
    restart();
    Session session = open();
    EXPECT_EQ(file_acts(session), "ok ok ok ok ok EEXIST ok EXDEV EXDEV ok ENOENT ok ok ok ok ");
    EXPECT_THAT(detail(session, "landlock"), HasSubstr("EXDEV"));
    const Ran moved = session.sh("echo content > a; mkdir e; mv a e/b; cat e/b; ls a");
    EXPECT_EQ(moved.out, "content\n") << moved.err;
    EXPECT_EQ(moved.denied(), Lines{}) << "what the kernel refuses is no denial";
}

/// The host's abstract socket, with and without Landlock's scopes, where the session shares the host's network.
TEST_F(Features, AbstractSocketsOfTheHostAreOutOfReachWithoutScopes) {
    const unique_fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const std::string name = "sandpipe-features-" + std::to_string(::getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener.get(), 8), 0);
    const unique_fd control(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(control.get(), reinterpret_cast<sockaddr*>(&address), size), 0) << "it listens";
    for (const char* without : {"", "landlock>5"}) {
        const Without scopes(without);
        restart();
        SandboxPolicy policy = writable();
        policy.network.disabled = true;
        Session session = open(policy);
        const Ran ran = session.python("import socket,errno\ns=socket.socket(socket.AF_UNIX)\n"
                                       "print(errno.errorcode.get(s.connect_ex('\\0" + name + "'),'ok'))");
        EXPECT_EQ(ran.out, "EACCES\n") << without << ran.err;
        EXPECT_EQ(ran.result.denials.size(), 1u) << without;
    }
}

TEST_F(Features, DescriptorsAreHandedOverInTwoSteps) {
    ignore_below("w");
    const Without send("addfd_send");
    restart();
    Session session = open();
    EXPECT_EQ(file_acts(session), "ok ok ok ok ok EEXIST ok ok ok ok ok ok ok ok ok ");
    EXPECT_THAT(detail(session, "denials"), HasSubstr("5.14"));
    // Number, flags, mode and place are those of a plain open, and nothing else is left open.
    const Ran ran = session.python(
        "import os,fcntl\nos.umask(0o027)\n"
        "f=os.open('made',os.O_RDWR|os.O_CREAT|os.O_EXCL|os.O_APPEND,0o666)\n"
        "g=os.open('made',os.O_RDONLY)\n"
        "print(g-f, fcntl.fcntl(f,fcntl.F_GETFD), bool(fcntl.fcntl(f,fcntl.F_GETFL)&os.O_APPEND), "
        "oct(os.fstat(f).st_mode))\n"
        "os.write(f,b'text')\nprint(os.read(g,9), len(os.listdir('/proc/self/fd')))\n");
    EXPECT_EQ(ran.out, "1 1 True 0o100640\nb'text' 6\n") << ran.err;
    EXPECT_EQ(session.sh("for i in $(seq 300); do echo $i > f$i || exit 1; done; rm f*; echo x > /etc/x").denied(),
              Lines{"open /etc/x EROFS"});
}

/// Without WAIT_KILLABLE_RECV the kernel has a moment in which an answer is taken and the call made anew all the same;
/// only that of a new descriptor is handed over in one step. So others may be odd, but seldom.
TEST_F(Features, RestartedCallsAreNotDoneTwice) {
    ignore_below("w");
    host("mkdir w/arena");
    for (const char* without : {"", "wait_killable"}) {
        SCOPED_TRACE(without);
        const Without killable(without);
        restart();
        Session session = open();
        const auto count = static_cast<std::uint64_t>(rounds(400));
        const Ran ran =
            session.run(command(test_program("attack_interrupted")).args(std::to_string(count)).cwd(at("w/arena")));
        const std::string done = "done, interrupted often, odd ";
        ASSERT_TRUE(ran.out.starts_with(done)) << ran.out;
        const std::uint64_t odd = std::stoull(ran.out.substr(done.size()));
        std::uint64_t refused = ran.result.denials.size();
        for (const Denial& denial : ran.result.denials) refused += denial.folded;
        const std::uint64_t few = *without ? count * 9 / 50 + 2 : 0;
        std::printf("without \"%s\": %ju odd answers and %ju denials in %ju rounds\n", without, odd, refused, count);
        EXPECT_LE(odd, few);
        EXPECT_GE(refused, count);
        EXPECT_LE(refused, count + few);
        host("rm -rf w/arena/*");
    }
}

TEST_F(Features, WithoutCloseRangeNothingLeaks) {
    std::vector<unique_fd> foreign;
    for (int i = 0; i < 50; ++i) foreign.emplace_back(::open("/dev/null", O_RDONLY));
    const Without call("close_range");
    restart();
    Session session = open();
    Running other = session.start(session.shell("echo up; sleep 600"));
    other.await_output("up");
    // ls has one of its own.
    EXPECT_EQ(session.sh("ls /proc/self/fd | tr '\\n' ' '").out, "0 1 2 3 ");
    EXPECT_EQ(session.sh("ls /proc/self/fd | tr '\\n' ' '").out, "0 1 2 3 ") << "the second command of an init";
    other.stop();
    EXPECT_EQ(other.finish().result.cause, Cause::cancelled);
    // For real: the call is refused to all that runs.
    const CommandLineRun run = run_without("close_range", at("w"), "", "ls /proc/self/fd | tr '\\n' ' '");
    EXPECT_EQ(run.output(), "0 1 2 3 ") << run.text;
}

TEST_F(Features, WithoutExecutableMemfdsTheInstalledLauncherIsNamed) {
    for (const char* environment : {"SANDPIPE_TEST_WITHOUT=memfd_exec", ""}) {
        const CommandLineRun run =
            run_without(*environment ? "none" : "memfd_exec", at("w"), "", "echo ran", environment);
        if (run.status == 0) {
            std::printf("skipped: this machine has an installed launcher\n");
            continue;
        }
        EXPECT_EQ(run.status, 125) << run.text;
        EXPECT_THAT(run.failure(), HasSubstr("E_SANDBOX_DEPENDENCY_MISSING"));
        EXPECT_THAT(run.failure(), HasSubstr("vm.memfd_noexec"));
        EXPECT_THAT(run.failure(), HasSubstr("launcher_path"));
    }
}

TEST_F(Features, WithoutAListenerOnlyWhatNeedsNoneStarts) {
    const Without listener("listener");
    restart();
    const std::string text = refusal(writable());
    EXPECT_THAT(text, HasSubstr("E_SANDBOX_UNSUPPORTED_ENV"));
    EXPECT_THAT(text, HasSubstr("filesystem.allowWrite"));
    EXPECT_THAT(text, HasSubstr("--weaker-nested"));
    SandboxPolicy executing = reading();
    executing.filesystem.restrict_execute = true;
    EXPECT_THAT(refusal(executing), HasSubstr("allowExecute"));
    SandboxPolicy connecting = reading();
    connecting.network.allow_unix_sockets = {"/run/some.sock"};
    EXPECT_THAT(refusal(connecting), HasSubstr("allowUnixSockets"));
    Session session = open(reading());
    EXPECT_EQ(reported(session, "denials"), "partial");
    EXPECT_EQ(reported(session, "filesystem"), "full");
    const Ran ran =
        session.sh("cd /tmp && mkdir d && echo x > d/f && mv d/f g && ln g h && rm g && cat h; echo x > /etc/x");
    EXPECT_EQ(ran.out, "x\n") << ran.err;
    EXPECT_NE(ran.code(), 0);
    EXPECT_FALSE(ran.result.denials_complete) << "and an empty list does not look complete";
    EXPECT_EQ(ran.result.denials.size(), 0u);
}

/// What a supervisor would refuse is refused all the same where there is none.
TEST_F(Features, WithoutAListenerTheWallsStand) {
    const Without listener("listener");
    restart();
    Session session = open(reading());
    expect_acts(session, "EROFS", at("w"),
                {"create @/new", "mkdir @/new", "write @/file", "unlink @/file", "truncate @/file", "chmod @/file",
                 "rename @/two @/three", "cut @/file"});
    expect_acts(session, "EACCES", at("o"), {"read @/file", "read_handle @/file", "exec @/file"});
    expect_acts(session, "ok", at("o"), {"read @/two"});
    const Ran ran = session.python(
        "import socket,ctypes,errno\n"
        "def t(f):\n  try: f(); print('ok')\n  except OSError as e: print(errno.errorcode[e.errno])\n"
        "for k in socket.SOCK_STREAM,socket.SOCK_DGRAM,socket.SOCK_SEQPACKET,socket.SOCK_RAW:\n"
        "  t(lambda: socket.socket(socket.AF_UNIX,k)); t(lambda: socket.socketpair(socket.AF_UNIX,k))\n"
        "c=ctypes.CDLL(None,use_errno=True)\n"
        "for n in 'unshare','mount':\n"
        "  print(n, errno.errorcode[ctypes.get_errno()] if getattr(c,n)(0x10000000,0,0,0,0)<0 else 'made')\n"
        "l=socket.socket(); l.bind(('127.0.0.1',0)); l.listen(); t(lambda: socket.create_connection(l.getsockname()))\n"
        "t(lambda: socket.create_connection(('10.1.2.3',80)))\n");
    EXPECT_EQ(ran.out,
              "EACCES\nok\nEACCES\nEACCES\nEACCES\nok\nEACCES\nEACCES\nunshare EPERM\nmount EPERM\nok\nENETUNREACH\n")
        << ran.err;
}

/// One that makes no notified call may have ended before its init looks.
TEST_F(Features, WhatEndsAtOnceHasStarted) {
    const Without listener("listener");
    restart();
    Session session = open(reading());
    int ran = 0;
    const int count = rounds(300);
    for (int i = 0; i < count; ++i) {
        Running running = session.start(command("/bin/true"));
        const bool started = running.started();
        ran += running.finish().result.cause == Cause::finished && started ? 1 : 0;
    }
    EXPECT_EQ(ran, count);
}

/// A connected socket can be connected elsewhere: where nobody judges that, it is not handed in.
TEST_F(Features, WithoutAListenerNoSocketOfTheHostsNetworkComesIn) {
    const unique_fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener.get(), 8), 0);
    ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    const std::string again =
        "import socket,errno\ns=socket.socket(fileno=0)\n"
        "import ctypes\nctypes.CDLL(None).connect(0,b'\\0'*16,16)\n"
        "print(errno.errorcode.get(s.connect_ex(('127.0.0.1'," +
        std::to_string(ntohs(address.sin_port)) + ")),'connected'))";
    for (const char* without : {"", "listener"}) {
        const unique_fd connected(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(::connect(connected.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
        int pair[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        const unique_fd first(pair[0]);
        const unique_fd second(pair[1]);
        const Without features(without);
        restart();
        Session session = open(reading());
        const Ran ran = session.run(Session::python_command(again).input(Input::descriptor(connected.get())));
        EXPECT_EQ(ran.out, *without ? "" : "EACCES\n") << ran.err;
        EXPECT_EQ(ran.result.cause, *without ? Cause::not_started : Cause::finished);
        EXPECT_EQ(session.run(session.shell("echo ran").input(Input::descriptor(first.get()))).out, "ran\n");
    }
}

/// A supervisor around the host has the one listener that there can be.
TEST_F(Features, BelowAnotherListenerOnlyWhatNeedsNoneStarts) {
    const CommandLineRun refused = run_without("listener", at("w"), "", "touch never");
    EXPECT_EQ(refused.status, 125) << refused.text;
    EXPECT_THAT(refused.failure(), HasSubstr("E_SANDBOX_UNSUPPORTED_ENV"));
    EXPECT_THAT(refused.failure(), HasSubstr("another seccomp listener"));
    EXPECT_THAT(refused.failure(), HasSubstr("filesystem.allowWrite"));
    host("echo '{\"filesystem\": {\"denyRead\": [\"../o\"]}}' > c/settings");
    const CommandLineRun run =
        run_without("listener", at("w"), "--settings ../c/settings", "cat ../o/file; touch never; cat file");
    EXPECT_EQ(run.status, 0) << run.text;
    EXPECT_EQ(run.output(), "content of /file\n");
    EXPECT_EQ(run.line("end")["denials_complete"], false);
    EXPECT_EQ(run.enforced("denials"), "partial");
    EXPECT_THAT(run.detail("denials"), HasSubstr("another seccomp listener"));
    EXPECT_EQ(run.warnings(),
              "denials are partial: refused calls fail, but this machine does not let them be reported\n");
    ignore_below("c");
}

/// A sandbox around the host lets listeners be made, and refuses what is needed to use them.
TEST_F(Features, AListenerThatCannotBeUsedIsFoundOutAtTheStart) {
    for (const char* what : {"notifications", "process_vm_readv", "pidfd_getfd"}) {
        const CommandLineRun run = run_without(what, at("w"), "", "touch never");
        EXPECT_EQ(run.status, 125) << what << run.text;
        EXPECT_THAT(run.failure(), HasSubstr("a seccomp supervisor for"));
        EXPECT_THAT(run.failure(), HasSubstr(std::string(what) == "process_vm_readv" ? "Function not implemented"
                                                                                     : "Operation not permitted"));
        const CommandLineRun weaker = run_without(what, at("w"), "--weaker-nested", "echo ran");
        EXPECT_EQ(weaker.output(), "ran\n") << what << weaker.text;
        EXPECT_EQ(weaker.enforced("denials"), "none");
    }
}

TEST_F(Features, ASandboxInASandboxSaysThatItIsImpossible) {
    Session session = open();
    for (const char* options : {"", "--weaker-nested "}) {
        const Ran ran = session.sh("'" + test_program("sandpipe") + "' run " + options + "-- echo inside");
        EXPECT_EQ(ran.code(), 125) << ran.err;
        EXPECT_EQ(ran.out, "");
        EXPECT_THAT(ran.err, HasSubstr("E_SANDBOX_UNSUPPORTED_ENV"));
        EXPECT_THAT(ran.err, HasSubstr("a sandbox in a sandbox is not possible"));
    }
    EXPECT_EQ(session.sh("'" + test_program("sandpipe") + "' exec -- echo inside").out, "inside\n");
}

}  // namespace
}  // namespace sandpipe::testing
