#include <sys/socket.h>
#include <sys/un.h>
#include <sandpipe/unique_fd.hpp>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "support/host_listener.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Lines = std::vector<std::string>;

class UnixSockets : public SandboxTest {
  protected:
    static std::string connect_to(const std::string& path, const std::string& type = "SOCK_STREAM") {
        return "import socket\ns=socket.socket(socket.AF_UNIX,socket." + type + ")\nimport errno\ne=s.connect_ex('" +
               path + "')\nprint(errno.errorcode.get(e,'ok'))\n";
    }
    SandboxPolicy allowing(std::vector<std::string> sockets) {
        SandboxPolicy policy = writable();
        policy.network.allow_unix_sockets = std::move(sockets);
        return policy;
    }
    Ran attack(Session& session, const std::string& kind, const std::string& forbidden, int count) {
        return session.run(
            command(test_program("attack_socket")).args(kind, forbidden, std::to_string(count)).cwd(at("w/arena")));
    }
    void make_arena() {
        host("mkdir -p w/arena");
        ignore_below("w/arena");
    }
};

TEST_F(UnixSockets, OfTheHostAreOutOfReachAndThatIsSaid) {
    const HostListener stream(at("w/s"));
    const HostListener packets(at("w/q"), SOCK_SEQPACKET);
    Session session = open();
    for (const auto& [name, text] : {std::pair{"s", "SOCK_STREAM"}, std::pair{"q", "SOCK_SEQPACKET"}}) {
        const HostListener& listener = *name == 's' ? stream : packets;
        const Ran ran = session.python(connect_to(name, text));
        EXPECT_EQ(ran.out, "EACCES\n");
        ASSERT_EQ(ran.result.denials.size(), 1u);
        EXPECT_EQ(ran.result.denials[0].kind, DenialKind::socket);
        EXPECT_EQ(ran.result.denials[0].operation, "connect");
        EXPECT_EQ(ran.result.denials[0].path, name);
        EXPECT_EQ(ran.result.denials[0].resolved, at(std::string("w/") + name));
        EXPECT_EQ(listener.visitors(), 0);
        host("python3 -I -S -c \"" + connect_to("w/" + std::string(name), text) + "\" >/dev/null");
        EXPECT_EQ(listener.visitors(), 1) << "the control did not work";
    }
}

/// A name says where it leads, wherever no other session can change that before the kernel has walked there; else it is
/// the last component. Both lead to the socket.
TEST_F(UnixSockets, OfTheSessionAreReachedAndKeepTheirNames) {
    ignore_below("w");
    host("mkdir w/d; chmod 777 w/d");
    Session session = open();
    const Ran ran = session.python(
        "import os, socket, tempfile\n"
        "def name(path):\n"
        "    s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen()\n"
        "    socket.socket(socket.AF_UNIX).connect(path)\n"
        "    return s.getsockname()\n"
        "here, own = os.getcwd(), tempfile.mkdtemp()\n"
        "kept = ['x', './y', here + '/z', own + '/x']\n"
        "print([name(path) == path for path in kept], name('d/x'), name(here + '/d/y'))\n");
    EXPECT_EQ(ran.out, "[True, True, True, True] x y\n") << ran.err;
    EXPECT_EQ(ran.denied(), Lines{});
}

// More than a session may have at one time.
TEST_F(UnixSockets, ThoseThatWereRemovedLeaveRoomForOthers) {
    ignore_below("w");
    Session session = open();
    const Ran ran = session.python(
        "import os, socket\n"
        "def bind(name):\n"
        "    s = socket.socket(socket.AF_UNIX); s.bind(name); return s\n"
        "kept = bind('kept'); kept.listen()\n"
        "for i in range(5000):\n"
        "    s = bind('x'); s.close(); os.unlink('x')\n"
        "socket.socket(socket.AF_UNIX).connect('kept')\n"
        "new = bind('x'); new.listen()\n"
        "socket.socket(socket.AF_UNIX).connect('x')\n"
        "print('connected')\n");
    EXPECT_EQ(ran.out, "connected\n") << ran.err;
    EXPECT_EQ(ran.denied(), std::vector<std::string>{});
}

TEST_F(UnixSockets, SignalHandlersRunWhileAConnectWaits) {
    Session session = open();
    const std::string program = R"(
import os, signal, socket, sys, time
def fill(family, address):
    server = socket.socket(family)
    server.bind(address)
    server.listen(0)
    kept = []
    for i in range(4):
        kept.append(socket.socket(family))
        kept[-1].setblocking(False)
        kept[-1].connect_ex(server.getsockname())
    if family == socket.AF_INET: time.sleep(.2)
    return server, kept
def give_up(*ignored): raise TimeoutError()
def note(*ignored): notes.append(1)
for family, address in ((socket.AF_UNIX, 'full'), (socket.AF_INET, ('127.0.0.1', 0))):
    server, kept = fill(family, address)
    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, .3)
    try:
        socket.socket(family).connect(server.getsockname())
        print('connected')
    except TimeoutError:
        print('gave up')
    notes = []
    signal.signal(signal.SIGALRM, note)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, .3)
    if os.fork() == 0:
        time.sleep(1)
        for i in range(4):
            server.settimeout(5)
            server.accept()
        time.sleep(5)
        os._exit(0)
    patient = socket.socket(family)
    patient.connect(server.getsockname())
    print('connected', len(notes))
    sys.stdout.flush()
os.unlink('full')
)";
    const Ran ran = session.run(Session::python_command(program).timeout(std::chrono::seconds(30)));
    EXPECT_EQ(ran.out, "gave up\nconnected 1\ngave up\nconnected 1\n") << ran.err;
}

TEST_F(UnixSockets, EverySpellingLeadsToTheSameSocket) {
    const HostListener listener(at("o/s"));
    host("ln -s ../o/s w/link; ln -s .. w/up");
    Session session = open();
    for (const std::string& path : {at("o/s"), std::string("../o/s"), std::string("link"), std::string("up/o//s"),
                                    "/proc/self/root" + at("o/s"), std::string("/proc/self/cwd/../o/s")}) {
        const Ran ran = session.python(connect_to(path));
        EXPECT_EQ(ran.out, "EACCES\n") << path;
        EXPECT_EQ(ran.denied(), Lines{"connect " + at("o/s") + " EACCES"}) << path;
    }
    EXPECT_EQ(listener.visitors(), 0);
}

TEST_F(UnixSockets, ExactlyTheListedOnesCanBeReached) {
    const HostListener good(at("w/ok"));
    const HostListener bad(at("w/bad"));
    Session session = open(allowing({"ok"}));
    EXPECT_EQ(session.python(connect_to("ok")).out, "ok\n");
    EXPECT_EQ(session.python(connect_to("bad")).out, "EACCES\n");
    EXPECT_EQ(good.visitors(), 1);
    EXPECT_EQ(bad.visitors(), 0);
}

TEST_F(UnixSockets, TheNameOfAListedOneIsGivenToNoOther) {
    host("mkdir w/run");
    ignore_below("w/run");
    const HostListener good(at("w/ok"));
    const HostListener bad(at("w/run/bad"));
    Session session = open(allowing({"ok", "run/later"}));
    const Ran ran = session.sh("mv run/bad ok; ln run/bad run/later; ln -s bad run/later; mv ok run/kept; rm ok; "
                               "mv run/bad run/later; mv run run2");
    EXPECT_EQ(ran.denied().size(), 7U) << ran.story;
    EXPECT_EQ(session.python(connect_to("ok")).out, "ok\n");
    EXPECT_EQ(session.python(connect_to("run/later")).out, "ENOENT\n");
    EXPECT_EQ(good.visitors(), 1);
    EXPECT_EQ(bad.visitors(), 0);
    EXPECT_EQ(session.sh("mv run/bad run/other && mv run/other run/bad").code(), 0);
}

TEST_F(UnixSockets, AListedOneInTheHostsTmpIsShown) {
    const std::string path = "/tmp/sandpipe-socket-" + std::to_string(::getpid());
    {
        const HostListener listener(path);
        Session with = open(allowing({path}));
        EXPECT_EQ(with.python(connect_to(path)).out, "ok\n");
        EXPECT_EQ(listener.visitors(), 1);
        Session without = open();
        EXPECT_EQ(without.python(connect_to(path)).out, "ENOENT\n");
    }
    std::filesystem::remove(path);
}

TEST_F(UnixSockets, WhatIsNoSocketOrMissingIsNoDenial) {
    Session session = open();
    for (const auto& [path, error] : {std::pair{"nothing", "ENOENT\n"}, std::pair{"file", "ECONNREFUSED\n"},
                                      std::pair{"\\0none", "ECONNREFUSED\n"}}) {
        const Ran ran = session.python(connect_to(path));
        EXPECT_EQ(ran.out, error) << path;
        EXPECT_EQ(ran.denied(), Lines{}) << path;
    }
}

TEST_F(UnixSockets, MadeInsideTheyWork) {
    ignore_below("w");
    Session session = open();
    const Ran ran = session.python(
        "import socket,threading,os\n"
        "for t in socket.SOCK_STREAM,socket.SOCK_SEQPACKET:\n"
        "  for n in 'rel%d'%t, os.getcwd()+'/abs%d'%t, '/tmp/t%d'%t, '\\0abstract%d'%t:\n"
        "    l=socket.socket(socket.AF_UNIX,t); l.bind(n); l.listen()\n"
        "    c=socket.socket(socket.AF_UNIX,t); c.connect(n); s,_=l.accept(); s.send(b'hi')\n"
        "    name=l.getsockname(); name=name.decode() if isinstance(name,bytes) else name\n"
        "    print(c.recv(9), name==n, c.getpeername()==l.getsockname())\n"
        "a,b=socket.socketpair(); a.send(b'pair'); print(b.recv(9))\n");
    std::string expected;
    for (int i = 0; i < 8; ++i) expected += "b'hi' True True\n";
    EXPECT_EQ(ran.out, expected + "b'pair'\n") << ran.err;
    EXPECT_EQ(ran.denied(), Lines{});
}

TEST_F(UnixSockets, MultiprocessingWorks) {
    ignore_below("w");
    Session session = open();
    const Ran ran = session.sh(
        "cat > mp.py <<'END'\n"
        "import multiprocessing as mp\n"
        "def f(x): return x*x\n"
        "if __name__=='__main__':\n"
        "  for m in 'fork','forkserver','spawn':\n"
        "    c=mp.get_context(m)\n"
        "    with c.Pool(2) as p: print(m, p.map(f,[1,2,3]))\n"
        "    with c.Manager() as g: d=g.dict(); d['a']=1; print(dict(d))\n"
        "END\npython3 mp.py");
    EXPECT_EQ(ran.out,
              "fork [1, 4, 9]\n{'a': 1}\nforkserver [1, 4, 9]\n{'a': 1}\nspawn [1, 4, 9]\n{'a': 1}\n")
        << ran.err;
    EXPECT_EQ(ran.denied(), Lines{});
}

TEST_F(UnixSockets, NodesChildProcessesWork) {
    Session session = open();
    if (session.sh("node --version").code() != 0) GTEST_SKIP() << "node is missing";
    const Ran ran = session.run(command("node").args(
        "-e",
        "const c=require('child_process');console.log(c.execFileSync('echo',['ran']).toString().trim());"
        "const p=c.spawn(process.execPath,['-e','process.on(\"message\",m=>process.send(m*2,()=>process.exit()))'],"
        "{stdio:['ignore','inherit','inherit','ipc']});p.on('message',m=>console.log(m));p.on('exit',e=>console.log('"
        "exit',e));p.send(21)"));
    EXPECT_EQ(ran.out, "ran\n42\nexit 0\n") << ran.err;
    EXPECT_EQ(ran.denied(), Lines{});
}

// The end of a pair is connected: a name given with a message leads nowhere else, whatever call gives it.
TEST_F(UnixSockets, AnEndOfAPairCannotBePointedElsewhere) {
    const HostListener stream(at("w/s"));
    const HostListener packets(at("w/q"), SOCK_SEQPACKET);
    const unique_fd datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = at("w/d");
    ASSERT_LT(name.size(), sizeof address.sun_path);
    std::strncpy(address.sun_path, name.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(datagrams.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    std::filesystem::permissions(name, std::filesystem::perms::all);
    Session session = open();
    const Ran ran = session.python(
        "import socket\n"
        "def t(f):\n"
        "  try: f(); return 1\n"
        "  except OSError: return 0\n"
        "for k in socket.SOCK_STREAM,socket.SOCK_SEQPACKET:\n"
        "  for n in 'd','s','q':\n"
        "    a,b=socket.socketpair(socket.AF_UNIX,k); b.settimeout(9)\n"
        "    sent=t(lambda:a.sendto(b'x',n))+t(lambda:a.sendmsg([b'x'],[],0,n)); got=0\n"
        "    while got<sent: got+=len(b.recv(1))\n"
        "    t(lambda:a.connect(n)); t(lambda:a.send(b'x'))\n"
        "for k in socket.SOCK_DGRAM,socket.SOCK_RAW:\n"
        "  print(t(lambda:socket.socket(socket.AF_UNIX,k)),t(lambda:socket.socketpair(socket.AF_UNIX,k)))\n");
    EXPECT_EQ(ran.out, "0 0\n0 0\n") << ran.err;
    char byte;
    EXPECT_LT(::recv(datagrams.get(), &byte, 1, 0), 0) << "the host's socket received something";
    EXPECT_EQ(stream.visitors() + packets.visitors(), 0);
    host("python3 -I -S -c \"import socket; socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM).sendto(b'x','w/d')\"");
    EXPECT_EQ(::recv(datagrams.get(), &byte, 1, 0), 1) << "the control did not work";
}

TEST_F(UnixSockets, CommandsOfASessionReachEachOther) {
    ignore_below("w");
    Session session = open();
    Running server = session.start(Session::python_command(
        "import socket\nl=socket.socket(socket.AF_UNIX); l.bind('meet'); l.listen(); print('up',flush=True)\n"
        "s,_=l.accept(); s.send(b'you'); print('sent')"));
    server.await_output("up");
    EXPECT_EQ(session.python("import socket\nc=socket.socket(socket.AF_UNIX); c.connect('meet'); print(c.recv(9))").out,
              "b'you'\n");
    EXPECT_EQ(server.finish().code(), 0);
    // The name is left, and what listens there later need not be of the session.
    host("rm w/meet");
    const HostListener listener(at("w/meet"));
    EXPECT_EQ(session.python(connect_to("meet")).out, "EACCES\n");
    EXPECT_EQ(listener.visitors(), 0);
}

TEST_F(UnixSockets, ASocketIsANameLikeOthers) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"no"};
    Session session = open(policy);
    const std::string bind =
        "import socket,errno\n"
        "def f(n):\n"
        "  try: socket.socket(socket.AF_UNIX).bind(n); return 'ok'\n"
        "  except OSError as e: return errno.errorcode[e.errno]\n";
    const Ran ran = session.python(bind + "print(f('no'),f('../o/s'),f('.bashrc'),f('file'),f('nodir/s'))");
    EXPECT_EQ(ran.out, "EACCES EROFS EACCES EADDRINUSE ENOENT\n") << ran.err;
    EXPECT_EQ(ran.denied(), (Lines{"bind " + at("w/no") + " EACCES", "bind " + at("o/s") + " EROFS",
                                   "bind " + at("w/.bashrc") + " EACCES"}));
    EXPECT_EQ(session.python(bind + "import os\nos.umask(0o27)\nprint(f('yes'),oct(os.stat('yes').st_mode))\n"
                                    "os.unlink('yes')").out,
              "ok 0o140750\n");
}

TEST_F(UnixSockets, ALinkInProcIsTheCallersOwnForBindToo) {
    host("mkdir w/sub");
    Session session = open();
    // Whatever number the supervisor's own descriptors have: the caller has `sub` there.
    const Ran ran = session.python(
        "import os,socket\n"
        "sub=os.open('sub',os.O_RDONLY)\n"
        "os.dup2(sub,200); os.close(sub)\n"
        "made=0\n"
        "for n in range(3,100):\n"
        "  os.dup2(200,n)\n"
        "  s=socket.socket(socket.AF_UNIX)\n"
        "  s.bind('/proc/self/fd/%d/.vscode'%n)\n"
        "  made+=os.path.exists('sub/.vscode') and not os.path.lexists('.vscode')\n"
        "  os.unlink('sub/.vscode'); s.close()\n"
        "s=socket.socket(socket.AF_UNIX); s.bind('/proc/self/cwd/sub/a'); s.listen()\n"
        "c=socket.socket(socket.AF_UNIX); c.connect('/proc/self/cwd/sub/a'); print(made,os.listdir('sub'))\n"
        "os.unlink('sub/a')");
    EXPECT_EQ(ran.out, "97 ['a']\n") << ran.err;
    EXPECT_EQ(ran.denied(), Lines{});
}

TEST_F(UnixSockets, FlipsOfWhatIsJudgedReachNoHostSocket) {
    make_arena();
    const HostListener listener(at("w/host.sock"));
    Session session = open();
    for (const char* kind : {"memory", "links", "descriptors"}) {
        const Ran ran = attack(session, kind, "../host.sock", rounds(1000));
        EXPECT_EQ(ran.out, "tried\n") << kind << ran.err;
        EXPECT_EQ(ran.result.cause, Cause::finished) << kind;
        EXPECT_EQ(listener.visitors(), 0) << kind;
        host("rm -rf w/arena/*");
    }
    host("python3 -I -S -c \"" + connect_to("w/host.sock") + "\" >/dev/null");
    EXPECT_EQ(listener.visitors(), 1) << "the control did not work";
}

TEST_F(UnixSockets, AConnectThatWaitsHoldsNobodyUp) {
    make_arena();
    Session session = open();
    Running running = session.start(
        command(test_program("attack_socket")).args("blocked", "x", "50").cwd(at("w/arena")).input(Input::stream()));
    running.await_output("made");
    EXPECT_EQ(running.output().find("connected"), std::string::npos);
    running.write("\n");
    running.await_output("connected");
    EXPECT_EQ(running.finish().code(), 0);
    host("rm -rf w/arena/*");
    Running stopped = session.start(
        command(test_program("attack_socket")).args("blocked", "x", "5").cwd(at("w/arena")).input(Input::stream()));
    stopped.await_output("made");
    stopped.stop();
    EXPECT_EQ(stopped.finish().result.cause, Cause::cancelled);
    EXPECT_EQ(session.sh("true").code(), 0);
}

// What begins to wait in a connect just when its command ends does not keep it from ending.
TEST_F(UnixSockets, ACommandEndsWhateverBeginsToConnect) {
    ignore_below("w");
    Session session = open();
    for (int i = 0; i < rounds(30); ++i) {
        const Ran ran = session.run(Session::python_command(
            "import os,socket\n"
            "if os.path.exists('s'): os.unlink('s')\n"
            "l=socket.socket(socket.AF_UNIX); l.bind('s'); l.listen(0)\n"
            "for i in range(8):\n"
            "  if os.fork()==0:\n"
            "    while True: socket.socket(socket.AF_UNIX).connect('s')\n").timeout(std::chrono::seconds(60)));
        ASSERT_EQ(ran.result.cause, Cause::finished) << ran.err;
    }
}

TEST_F(UnixSockets, SocketsOfTheHostAreNoDescriptorsOfACommand) {
    Session session = open();
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
    const unique_fd first(pair[0]);
    const unique_fd second(pair[1]);
    const unique_fd loose(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    for (const int fd : {first.get(), loose.get()}) {
        const Ran ran = session.run(session.shell("true").out(Output::descriptor(fd)));
        const auto* failure = std::get_if<NotStarted>(&ran.result.status);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->stage, Stage::output);
        EXPECT_NE(failure->hint.find("socket"), std::string::npos);
    }
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    const unique_fd own(pair[0]);
    const unique_fd theirs(pair[1]);
    EXPECT_EQ(session.run(session.shell("echo hi").out(Output::descriptor(theirs.get()))).code(), 0);
    char text[3];
    EXPECT_EQ(::read(own.get(), text, 3), 3);
}

}  // namespace
}  // namespace sandpipe::testing
