#include <fcntl.h>
#include <sandpipe/unique_fd.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

class Privileges : public SandboxTest {
  protected:
    /// Each call answers one of `errors`.
    void expect_calls(Session& session, const std::string& errors, const std::vector<std::string>& names) {
        const Ran ran = session.attack("attack_calls", names);
        std::istringstream lines(ran.out);
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count)
            EXPECT_NE(("|" + errors + "|").find("|" + line.substr(line.find(": ") + 2) + "|"),
                      std::string::npos)
                << line << ", not " << errors;
        EXPECT_EQ(count, names.size()) << ran.err;
    }
};

TEST_F(Privileges, SystemCallsBeyondTheSandboxAreRefused) {
    Session session = open();
    expect_calls(session, "ENOSYS", {"io_uring_setup", "io_uring_enter", "io_uring_register"});
    expect_calls(session, "EPERM", {"bpf",          "keyctl",          "add_key",         "request_key",
                                    "userfaultfd",  "perf_event_open", "mount",           "remount",
                                    "umount",       "pivot_root",      "fsopen",          "open_tree",
                                    "move_mount",   "mount_setattr",   "chroot",          "setns",
                                    "setns_init",   "unshare_user",    "unshare_ns",      "unshare_net",
                                    "unshare_time", "clone_user",      "clone_user_high", "clone_pid",
                                    "handle",       "open_handle",     "fanotify",        "module",
                                    "reboot",       "swapon",          "sethostname",     "syslog",
                                    "iopl",         "clock_settime",   "capset",          "keepcaps"});
    expect_calls(session, "EOPNOTSUPP|EPERM|ENOSYS",
                 {"landlock_create", "landlock_add", "landlock_restrict"});
    expect_calls(session, "EPERM|ENOSYS", {"clone3"});
    expect_calls(session, "EINVAL", {"nnp_off"});
}

/// Whoever opens a file that has a lease waits for its holder, and reading it is enough to get one.
TEST_F(Privileges, NobodyIsKeptFromOpeningFiles) {
    Session session = open();
    expect_calls(session, "EACCES", {"lease", "lease_high", "delegation"});
    expect_calls(session, "ok", {"lease_asked", "locked"});
    Running running = session.start(Session::python_command(
        "import fcntl, time\n"
        "for name in '../o/two', 'two':\n"
        "    for kind in fcntl.F_WRLCK, fcntl.F_RDLCK:\n"
        "        try: fcntl.fcntl(held := open(name), fcntl.F_SETLEASE, kind); print('held')\n"
        "        except OSError as e: print(e.errno)\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)"));
    running.await_output("ready");
    EXPECT_EQ(running.output(), "13\n13\n13\n13\nready\n");
    for (const char* name : {"o/two", "w/two"}) {
        const unique_fd file(::open(at(name).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
        EXPECT_TRUE(file) << name;  // EWOULDBLOCK where somebody has a lease
    }
    running.stop();
    EXPECT_EQ(running.finish().result.denials.size(), 4U);
}

TEST_F(Privileges, TheFilterHoldsWithoutFileRulesToo) {
    SandboxPolicy policy;
    policy.filesystem.disabled = true;
    policy.network.disabled = true;
    Session session = open(policy);
    expect_calls(session, "ENOSYS", {"io_uring_setup"});
    expect_calls(session, "EPERM",
                 {"bpf", "keyctl", "mount", "remount", "unshare_user", "setns", "open_tree", "chroot"});
    expect_calls(session, "EPERM|EACCES|EOPNOTSUPP", {"pair_dgram", "unix_dgram"});
    expect_calls(session, "EPERM|ESRCH|EACCES", {"ptrace_init", "seize_init", "writev_init", "getfd_init"});
}

TEST_F(Privileges, NoOtherSystemCallTableWorks) {
    Session session = open();
    expect_calls(session, "ENOTRECOVERABLE", {"x32_getpid", "x32_open", "int80_getpid"});
}

// It dies before it can try again, and the denial says of what.
TEST_F(Privileges, OneCallOfAnotherTableIsADenialAndTheEnd) {
    Session session = open();
    const std::pair<const char*, const char*> kCalls[] = {
        {"x32_getpid", "getpid"}, {"x32_open", "open"}, {"int80_getpid", "getpid"}};
    for (const auto& [call, name] : kCalls) {
        const Ran ran = session.attack("attack_calls", {call});
        ASSERT_EQ(ran.result.denials.size(), 1U) << call;
        EXPECT_EQ(ran.result.denials[0].kind, DenialKind::syscall) << call;
        EXPECT_EQ(ran.result.denials[0].operation, name) << call;
        EXPECT_EQ(ran.result.denials[0].error, ENOSYS) << call;
    }
    const Ran itself = session.python("import ctypes\nctypes.CDLL(None).syscall(0x40000000+39)\nprint('went on')");
    ASSERT_TRUE(std::holds_alternative<Signaled>(itself.result.status));
    EXPECT_EQ(std::get<Signaled>(itself.result.status).signal, SIGSYS);
    EXPECT_EQ(itself.out, "");
    EXPECT_TRUE(session.python("import os\nos.getpid()").denied().empty());
}

TEST_F(Privileges, TheInitIsOutOfReach) {
    Session session = open();
    expect_calls(session, "EPERM|EACCES|ESRCH",
                 {"ptrace_init", "seize_init", "writev_init", "getfd_init", "getfd_init5", "kcmp_init",
                  "prlimit_init"});
    // From inside its namespace pid 1 takes no signal that it does not handle.
    (void)session.attack("attack_calls", {"kill_init", "term_init", "stop_init"});
    EXPECT_EQ(session.sh("echo alive").out, "alive\n");
    const Ran ran = session.sh(
        "kill -9 1; kill -STOP 1; kill -INT 1; kill -HUP 1; kill -CHLD 1; kill -USR1 1; kill -SEGV 1; echo "
        "on; touch ../o/x; "
        "cat /proc/1/maps /proc/1/mem /proc/1/auxv /proc/1/stack /proc/1/syscall /proc/1/io; for f in "
        "/proc/1/fd/* /proc/1/map_files/* /proc/1/ns/* /proc/1/cwd /proc/1/exe; do readlink $f; done; cat "
        "/proc/1/fd/*");
    EXPECT_EQ(ran.out, "on\n");
    EXPECT_EQ(ran.result.cause, Cause::finished);
}

TEST_F(Privileges, RealTimeSignalsDoNotHurtTheInit) {
    Session session = open();
    const Ran ran = session.python(
        "import os\nfor s in range(1,65):\n  if s in (32,33): continue\n  try: os.kill(1,s)\n  except "
        "OSError: pass\nprint('on')");
    EXPECT_EQ(ran.out, "on\n") << ran.err;
    EXPECT_EQ(ran.result.cause, Cause::finished);
    EXPECT_EQ(session.sh("echo next").out, "next\n");
}

TEST_F(Privileges, OwnProcessesCanBeTraced) {
    Session session = open();
    const Ran ran = session.python(
        "import ctypes,os,signal\n"
        "c=ctypes.CDLL(None,use_errno=True)\n"
        "p=os.fork()\n"
        "if p==0:\n"
        "  c.ptrace(0,0,0,0); os.kill(os.getpid(),signal.SIGSTOP); os._exit(7)\n"
        "_,s=os.waitpid(p,0); print(os.WIFSTOPPED(s)); c.ptrace(7,p,0,0); _,s=os.waitpid(p,0); "
        "print(os.WEXITSTATUS(s))\n");
    EXPECT_EQ(ran.out, "True\n7\n") << ran.err;
}

// A tracer that changes the number of a call after the filter looked at it.
TEST_F(Privileges, DebuggersWorkOnOwnProcessesOnly) {
    host(
        "printf 'int main(void) { return 0; }' > w/clean.c && gcc -o w/clean w/clean.c; printf '#include <stdlib.h>\\nvoid *volatile p;\\nint "
        "main(void) { p = "
        "malloc(7); p = 0; return 0; }' > w/leak.c");
    ignore_below("w");
    Session session = open();
    const struct {
        const char* program;
        const char* line;
    } cases[] = {
        {"strace", "strace -f -o log sh -c 'cat file' && grep -q execve log && ! strace -p 1 -o log"},
        {"gdb",
         "gdb -batch -nx -ex 'break main' -ex run -ex continue ./clean > told 2>&1; grep -q 'exited normally' told &&"
         " { gdb -batch -nx -p 1 2>&1 | grep -q 'not permitted'; }"},
        {"gcc",
         "gcc -fsanitize=leak -o clean clean.c && ./clean && gcc -fsanitize=leak -o leak leak.c && ! ./leak 2> said "
         "&& grep -q '7 byte' said"},
    };
    for (const auto& one : cases) {
        if (std::system(("command -v " + std::string(one.program) + " > /dev/null").c_str()) != 0) {
            std::printf("not tried: this machine has no %s\n", one.program);
            continue;
        }
        const Ran ran = session.sh(one.line);
        EXPECT_EQ(ran.code(), 0) << one.program << ": " << ran.out << ran.err;
    }
}

TEST_F(Privileges, ATracerCannotExchangeCalls) {
    Session session = open();
    const Ran ran = session.attack("attack_tracer", {at("o/made")});
    EXPECT_EQ(ran.out.find("made"), std::string::npos) << ran.out;
}

TEST_F(Privileges, NoCapabilityIsLeft) {
    Session session = open();
    const Ran ran = session.sh("grep -E '^Cap|NoNew|Seccomp:' /proc/self/status");
    EXPECT_EQ(ran.out,
              "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
              "CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
}

TEST_F(Privileges, KeystrokesCannotBeInjected) {
    Session session = open();
    expect_calls(session, "EPERM|EIO", {"tiocsti", "tiocsti_high", "tiocsti_high63"});
    expect_calls(session, "EPERM|ENOTTY|EIO", {"tioclinux"});
}

TEST_F(Privileges, SocketFamilies) {
    Session session = open();
    expect_calls(session, "ok", {"inet", "inet6", "netlink", "pair_stream", "pair_seqpacket", "unix_stream"});
    expect_calls(
        session, "EACCES|EPERM",
        {"unix_dgram", "unix_high", "pair_dgram", "pair_raw", "pair_dgram_high", "raw"});
    expect_calls(session, "EAFNOSUPPORT|EPERM", {"packet", "vsock", "alg", "bluetooth", "family_far"});
}

TEST_F(Privileges, SocketsThatTheKernelWouldLoadModulesFor) {
    Session session = open();
    expect_calls(session, "ok", {"inet", "inet6", "tcp", "udp6"});
    expect_calls(session, "EPROTONOSUPPORT", {"sctp", "sctp_high", "l2tp", "smc"});
    expect_calls(session, "ESOCKTNOSUPPORT", {"sctp_packets", "dccp", "inet_packet"});
}

TEST_F(Privileges, AnUndumpableProcessIsStillSupervised) {
    Session session = open();
    const Ran ran = session.python(
        "import ctypes,os\n"
        "ctypes.CDLL(None).prctl(4,0,0,0,0)\n"
        "for p in '" +
        at("o/made") +
        "','mine':\n"
        "  try: os.close(os.open(p,os.O_CREAT|os.O_WRONLY)); print('made')\n"
        "  except OSError as e: print(e.errno)\n");
    EXPECT_EQ(ran.out, "30\nmade\n") << ran.err;
    expect_changes({"+ w/mine"});
}

TEST_F(Privileges, AFilterOfTheCommandsOwnWorksAndASecondListenerDoesNot) {
    Session session = open();
    expect_calls(session, "EBUSY|EPERM|EFAULT", {"seccomp_listener"});
    const Ran ran = session.python(
        "import ctypes,os\n"
        "c=ctypes.CDLL(None,use_errno=True)\n"
        "class P(ctypes.Structure): _fields_=[('n',ctypes.c_ushort),('f',ctypes.c_void_p)]\n"
        "b=ctypes.create_string_buffer(bytes([6,0,0,0,0,0,0xff,0x7f]))\n"
        "p=P(1,ctypes.addressof(b))\n"
        "print(c.syscall(317,1,0,ctypes.byref(p)), c.syscall(317,1,8,ctypes.byref(p)))\n"
        "try: os.open('" +
        at("o/made") +
        "',os.O_CREAT|os.O_WRONLY); print('made')\n"
        "except OSError as e: print(e.errno)\n");
    EXPECT_EQ(ran.out, "0 -1\n30\n") << ran.err;
}

TEST_F(Privileges, DeathOfCallersDoesNotHurtTheSupervisor) {
    Session session = open();
    const Ran ran = session.attack("attack_die_in_call", {at("o/made"), std::to_string(rounds(500))});
    EXPECT_EQ(ran.out, "done\n") << ran.err;
    EXPECT_EQ(session.sh("touch mine && echo next").out, "next\n");
    expect_changes({"+ w/mine"});
}

}  // namespace
}  // namespace sandpipe::testing
