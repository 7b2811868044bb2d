#include "support/host_listener.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Lines = std::vector<std::string>;

/// What is refused besides writing.
class DenialKinds : public SandboxTest {
  protected:
    SandboxPolicy hiding() {
        SandboxPolicy policy = writable();
        policy.filesystem.deny_read = {"file", "dir", "../o"};
        policy.filesystem.allow_read = {"../o/dir"};
        return policy;
    }
    static Lines kinds(const Ran& ran) {
        Lines lines;
        for (const Denial& denial : ran.result.denials) lines.emplace_back(to_string(denial.kind));
        return lines;
    }
};

TEST_F(DenialKinds, EachRefusedReadIsOne) {
    Session session = open(hiding());
    const struct {
        const char* verb;
        const char* path;
        std::string resolved;
    } acts[] = {{"read", "file", at("w/file")},        {"list", "dir", at("w/dir")},
                {"read", "dir/file", at("w/dir/file")}, {"read", "../o/file", at("o/file")},
                {"list", "../o", at("o")},              {"chdir", "dir", at("w/dir")},
                {"read", "/proc/self/cwd/file", at("w/file")}};
    for (const auto& act : acts) {
        const Ran ran = session.attack("attack_act", {act.verb, act.path});
        EXPECT_EQ(ran.out, "EACCES\n") << act.verb << act.path;
        EXPECT_EQ(kinds(ran), Lines{"read"}) << act.verb << " " << act.path;
        if (ran.result.denials.size() == 1) {
            EXPECT_EQ(ran.result.denials[0].path, act.path);
            EXPECT_EQ(ran.result.denials[0].resolved, act.resolved);
            EXPECT_NE(ran.result.denials[0].rule.find("denyRead"), std::string::npos);
        }
    }
}

TEST_F(DenialKinds, WhatCanBeReadOrIsMissingIsNone) {
    Session session = open(hiding());
    for (const auto& [verb, path] :
         {std::pair{"read", "two"}, std::pair{"list", "."}, std::pair{"read", "../o/dir/file"},
          std::pair{"read", "nothing"}, std::pair{"list", "/etc"}}) {
        const Ran ran = session.attack("attack_act", {verb, path});
        EXPECT_EQ(kinds(ran), Lines{}) << verb << " " << path;
    }
    EXPECT_EQ(kinds(session.sh("stat file dir >/dev/null; test -r file; ls -l >/dev/null")), Lines{});
}

TEST_F(DenialKinds, AWriteWhereNothingCanBeReadIsAWrite) {
    Session session = open(hiding());
    for (const char* path : {"file", "dir/new", "dir/file"}) {
        const Ran ran = session.attack("attack_act", {"write", path});
        EXPECT_EQ(ran.out, "EACCES\n") << path;
        EXPECT_EQ(kinds(ran), Lines{"write"}) << path;
    }
    EXPECT_EQ(kinds(session.attack("attack_act", {"mkdir", "dir/new"})), Lines{"write"});
}

TEST_F(DenialKinds, BothNamesAreToldWhereOneIsOutOfReach) {
    Session session = open(hiding());
    const struct {
        const char* verb;
        const char* from;
        const char* to;
    } acts[] = {{"rename", "two", "dir/new"},      {"rename", "dir/file", "new"},
                {"link", "two", "dir/new"},        {"link", "dir/file", "new"},
                {"exchange", "two", "dir/file"},   {"rename", "two", "dir/missing/new"},
                {"rename", "dir/file", "dir/new"}, {"rename", "dir/missing", "new"}};
    for (const auto& act : acts) {
        const Ran ran = session.attack("attack_act", {act.verb, act.from, act.to});
        EXPECT_EQ(ran.out, "EACCES\n") << act.verb << act.from << act.to;
        ASSERT_EQ(kinds(ran), Lines{"write"}) << act.verb << " " << act.from << " " << act.to;
        EXPECT_EQ(ran.result.denials[0].path, act.from);
        EXPECT_EQ(ran.result.denials[0].second_path, act.to);
        EXPECT_NE(ran.result.denials[0].rule.find("denyRead"), std::string::npos);
    }
    const Ran unnamed = session.python(
        "import os\n"
        "fd=os.open('.',os.O_TMPFILE|os.O_RDWR,0o600)\n"
        "try: os.link('/proc/self/fd/%d'%fd,'dir/new',src_dir_fd=-1,follow_symlinks=True)\n"
        "except PermissionError as e: print(e.strerror)\n");
    EXPECT_EQ(unnamed.out, "Permission denied\n") << unnamed.err;
    EXPECT_EQ(kinds(unnamed), Lines{"write"});
    EXPECT_EQ(kinds(session.attack("attack_act", {"rename", "missing/x", "new"})), Lines{});
    EXPECT_EQ(kinds(session.attack("attack_act", {"rename", "two", "missing/new"})), Lines{});
}

TEST_F(DenialKinds, SocketsInAHiddenPlace) {
    SandboxPolicy policy = hiding();
    policy.filesystem.deny_read.push_back("hidden");
    const HostListener below(at("w/dir/s"));
    const HostListener itself(at("w/hidden"));
    policy.network.allow_unix_sockets = {"hidden"};
    Session session = open(policy);
    const std::string act =
        "import socket\n"
        "def t(f):\n"
        "  try: f()\n"
        "  except OSError as e: print(e.strerror)\n";
    for (const char* name : {"dir/s", "dir/missing", "hidden"}) {
        const Ran ran = session.python(act + "t(lambda:socket.socket(1).connect('" + name + "'))");
        EXPECT_EQ(ran.out, "Permission denied\n") << name;
        ASSERT_EQ(kinds(ran), Lines{"socket"}) << name;
        EXPECT_EQ(ran.result.denials[0].resolved, at("w/" + std::string(name)));
        EXPECT_NE(ran.result.denials[0].rule.find("denyRead"), std::string::npos);
    }
    EXPECT_EQ(below.visitors() + itself.visitors(), 0);
    const Ran ran = session.python(act + "t(lambda:socket.socket(1).bind('dir/new'))");
    EXPECT_EQ(ran.out, "Permission denied\n");
    EXPECT_EQ(ran.denied(), Lines{"bind " + at("w/dir/new") + " EACCES"});
    EXPECT_EQ(kinds(session.python(act + "t(lambda:socket.socket(1).connect('missing/s'))")), Lines{});
}

TEST_F(DenialKinds, AHiddenProgramIsNotExecuted) {
    host("cp /bin/true w/dir/prog; cp /bin/true w/prog");
    SandboxPolicy policy = hiding();
    policy.filesystem.deny_read.push_back("prog");
    Session session = open(policy);
    for (const char* path : {"./prog", "./dir/prog"}) {
        const Ran ran = session.attack("attack_act", {"exec", path});
        EXPECT_EQ(ran.out, "EACCES\n") << path;
        EXPECT_EQ(kinds(ran), Lines{"exec"}) << path;
    }
    EXPECT_EQ(kinds(session.attack("attack_act", {"exec", "/bin/true"})), Lines{});
    // As the command itself, too.
    const Ran ran = session.run(command("./prog"));
    ASSERT_TRUE(std::holds_alternative<NotStarted>(ran.result.status));
    EXPECT_EQ(std::get<NotStarted>(ran.result.status).stage, Stage::permission);
}

TEST_F(DenialKinds, ChangesThroughADescriptor) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"file"};
    Session session = open(policy);
    const std::string acts =
        "import os\n"
        "def t(f):\n"
        "  try: f(); print('ok')\n"
        "  except OSError as e: print(e.strerror)\n"
        "fd=os.open(NAME,os.O_RDONLY)\n"
        "t(lambda:os.fchmod(fd,0o600)); t(lambda:os.fchown(fd,os.getuid(),-1)); "
        "t(lambda:os.setxattr(fd,'user.a',b'1'))\n"
        "t(lambda:os.utime(fd))\n";
    const Ran denied = session.python("NAME='file'\n" + acts);
    EXPECT_EQ(denied.denied(),
              (Lines{"chmod " + at("w/file") + " EACCES", "chown " + at("w/file") + " EACCES",
                     "setxattr " + at("w/file") + " EACCES", "utimes " + at("w/file") + " EACCES"}))
        << denied.out << denied.err;
    const Ran allowed = session.python("NAME='two'\n" + acts);
    EXPECT_EQ(allowed.denied(), Lines{}) << allowed.out;
    expect_changes(changes());
}

/// What it says is not read: it could close the directory for whoever looks for protected names there.
TEST_F(DenialKinds, AnAccessListOfAnUnknownForm) {
    host("mkdir w/free; chmod 777 w/free");
    Session session = open();
    const Ran ran = session.python(
        "import errno,os\n"
        "for place in '.','free','two':\n"
        "  try: os.setxattr(place,'system.nfs4_acl',b'x')\n"
        "  except OSError as e: print(errno.errorcode[e.errno])\n");
    EXPECT_EQ(ran.out, "EACCES\nENOTSUP\nENOTSUP\n") << ran.err;
    EXPECT_EQ(ran.denied(), Lines{"setxattr " + at("w") + " EACCES"});
}

TEST_F(DenialKinds, ConnectionsThatLeadNowhere) {
    Session session = open();
    const Ran ran = session.python(
        "import socket,errno\n"
        "for f,t,a in "
        "(socket.AF_INET,socket.SOCK_STREAM,('192.0.2.1',80)),(socket.AF_INET6,socket.SOCK_STREAM,('2001:db8::1',443)"
        "),"
        "(socket.AF_INET,socket.SOCK_DGRAM,('192.0.2.53',53)):\n"
        "  print(errno.errorcode[socket.socket(f,t).connect_ex(a)])\n"
        "try: socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b'x',('192.0.2.9',9))\n"
        "except OSError as e: print(errno.errorcode[e.errno])\n");
    EXPECT_EQ(ran.out, "ENETUNREACH\nENETUNREACH\nENETUNREACH\nENETUNREACH\n");
    ASSERT_EQ(kinds(ran), (Lines{"connect", "connect", "connect", "connect"}));
    EXPECT_EQ(ran.result.denials[0].host, "192.0.2.1");
    EXPECT_EQ(ran.result.denials[0].port, 80);
    EXPECT_EQ(ran.result.denials[1].host, "2001:db8::1");
    EXPECT_EQ(ran.result.denials[3].operation, "sendto");
    // The own loopback is no denial, whoever listens there.
    EXPECT_EQ(kinds(session.python("import socket\nsocket.socket().connect_ex(('127.0.0.1',9))\n"
                                   "socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b'x',('127.0.0.1',9))")),
              Lines{});
}

/// Also where the host's /etc/resolv.conf names a server on its own loopback: nobody can listen there inside.
TEST_F(DenialKinds, NameServersLeadNowhere) {
    Session session = open();
    const Ran ran = session.python(R"(
import errno,socket
def name(f,*a):
  try: return errno.errorcode.get(f(*a),'ok')
  except OSError as e: return errno.errorcode[e.errno]
def udp(f=socket.AF_INET): return socket.socket(f,socket.SOCK_DGRAM)
six=socket.AF_INET6
print(name(udp().connect_ex,('127.0.0.53',53)),name(udp().sendto,b'x',('127.0.0.1',53)),name(udp(six).sendto,b'x',('::1',53)),
      name(socket.socket(six).connect_ex,('::1',53)),name(socket.socket().connect_ex,('0.0.0.0',53)))
print(name(udp().connect_ex,('127.0.0.53',54)),name(udp(six).connect_ex,('::1',5353)),name(udp().bind,('127.0.0.53',53)))
)");
    EXPECT_EQ(ran.out, "ENETUNREACH ENETUNREACH ENETUNREACH ENETUNREACH ENETUNREACH\nok ok EACCES\n") << ran.err;
    ASSERT_EQ(kinds(ran), (Lines{"connect", "connect", "connect", "connect", "connect"}));
    EXPECT_EQ(ran.result.denials[0].host, "127.0.0.53");
    EXPECT_NE(ran.result.denials[0].rule.find("nor are names looked up in it"), std::string::npos);
}

constexpr const char* kSendMessages = R"(
import ctypes,errno,os,socket,struct
libc=ctypes.CDLL(None,use_errno=True)
def sendmsg(f,a):
  try: return socket.socket(f,socket.SOCK_DGRAM).sendmsg([b'x'],[],0,a)
  except OSError as e: return errno.errorcode[e.errno]
def sendmmsg(s,*to):
  names=[ctypes.create_string_buffer(struct.pack('=HH4s8x',socket.AF_INET,socket.htons(p),socket.inet_aton(h))) for h,p in to]
  data=ctypes.create_string_buffer(b'x'); part=ctypes.create_string_buffer(struct.pack('PN',ctypes.addressof(data),1))
  all=ctypes.create_string_buffer(b''.join(struct.pack('PiPNPNi4xI4x',ctypes.addressof(n),16,ctypes.addressof(part),1,0,0,0,0) for n in names))
  r=libc.sendmmsg(s.fileno(),all,len(to),0)
  return r if r>=0 else errno.errorcode[ctypes.get_errno()]
)";

TEST_F(DenialKinds, MessagesThatLeadNowhere) {
    Session session = open();
    const Ran ran = session.python(std::string(kSendMessages) + R"(
print(sendmsg(socket.AF_INET,('192.0.2.9',53)),sendmsg(socket.AF_INET6,('2001:db8::9',54)))
print(sendmmsg(socket.socket(socket.AF_INET,socket.SOCK_DGRAM),('192.0.2.10',55),('192.0.2.11',56)))
)");
    EXPECT_EQ(ran.out, "ENETUNREACH ENETUNREACH\nENETUNREACH\n") << ran.err;
    ASSERT_EQ(kinds(ran), (Lines{"connect", "connect", "connect"}));
    EXPECT_EQ(ran.result.denials[0].operation, "sendmsg");
    EXPECT_EQ(ran.result.denials[0].host, "192.0.2.9");
    EXPECT_EQ(ran.result.denials[0].port, 53);
    EXPECT_EQ(ran.result.denials[1].host, "2001:db8::9");
    EXPECT_EQ(ran.result.denials[2].operation, "sendmmsg");
    EXPECT_EQ(ran.result.denials[2].host, "192.0.2.10");
}

TEST_F(DenialKinds, MessagesInsideTheSessionArrive) {
    Session session = open();
    const Ran ran = session.python(std::string(kSendMessages) + R"(
there=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); there.bind(('127.0.0.1',0)); there.settimeout(30)
to=there.getsockname()
here=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)
print(here.sendmsg([b'one'],[],0,to),there.recv(9))
print(sendmmsg(here,to,to),there.recv(9),there.recv(9))
here.connect(to); print(here.sendmsg([b'two']),there.recv(9))
a,b=socket.socketpair(); r,w=os.pipe()
socket.send_fds(a,[b'fds'],[w]); data,fds,_,_=socket.recv_fds(b,9,1); os.write(fds[0],b'through'); print(data,os.read(r,9))
print(libc.sendmsg(here.fileno(),None,0),errno.errorcode[ctypes.get_errno()],libc.sendmmsg(here.fileno(),None,0,0))
n=socket.socket(socket.AF_NETLINK,socket.SOCK_RAW,0); print(n.sendmsg([struct.pack('=IHHIIBxxxI',20,18,0x301,1,0,0,0)[:20]],[],0,(0,0)))
)");
    EXPECT_EQ(ran.out,
              "3 b'one'\n2 b'x' b'x'\n3 b'two'\nb'fds' b'through'\n-1 EFAULT 0\n20\n") << ran.err;
    EXPECT_EQ(kinds(ran), Lines{});
}

TEST_F(DenialKinds, SystemCallsAndSockets) {
    Session session = open();
    const struct {
        const char* call;
        const char* kind;
        const char* operation;
        std::string rule;
    } calls[] = {{"mount", "syscall", "mount", ""},
                 {"bpf", "syscall", "bpf", ""},
                 {"keyctl", "syscall", "keyctl", ""},
                 {"unshare_user", "syscall", "unshare", "no new user namespace"},
                 {"setns", "syscall", "setns", ""},
                 {"tiocsti", "syscall", "ioctl", "TIOCSTI"},
                 {"lease", "syscall", "fcntl", "F_SETLEASE"},
                 {"subvolume", "syscall", "ioctl", "BTRFS_IOC_SUBVOL_CREATE"},
                 {"snapshot", "syscall", "ioctl", "BTRFS_IOC_SNAP_CREATE"},
                 {"unix_dgram", "socket", "socket", "only stream and seqpacket UNIX sockets: AF_UNIX, SOCK_DGRAM"},
                 {"pair_dgram", "socket", "socketpair", "only stream and seqpacket UNIX sockets: AF_UNIX, SOCK_DGRAM"},
                 {"packet", "socket", "socket", "only UNIX, IPv4, IPv6 and netlink sockets: AF_PACKET, SOCK_RAW"},
                 {"vsock", "socket", "socket", "only UNIX, IPv4, IPv6 and netlink sockets: AF_VSOCK, SOCK_STREAM"},
                 {"sctp", "socket", "socket", "only TCP, UDP and ICMP of IPv4 and IPv6: AF_INET, SOCK_STREAM, IPPROTO_SCTP"},
                 {"dccp", "socket", "socket", "only TCP, UDP and ICMP of IPv4 and IPv6: AF_INET, SOCK_DCCP"}};
    for (const auto& [call, kind, operation, rule] : calls) {
        const Ran ran = session.attack("attack_calls", {call});
        ASSERT_EQ(kinds(ran), Lines{kind}) << call << " " << ran.out;
        EXPECT_EQ(ran.result.denials[0].operation, operation);
        EXPECT_EQ(ran.result.denials[0].rule, rule);
        EXPECT_FALSE(ran.result.denials[0].probe) << call;
    }
    const Ran ring = session.attack("attack_calls", {"io_uring_setup"});
    ASSERT_EQ(ring.result.denials.size(), 1u);
    EXPECT_TRUE(ring.result.denials[0].probe);
}

TEST_F(DenialKinds, ThreadsAndProcessesAreNoneOfThem) {
    Session session = open();
    EXPECT_EQ(kinds(session.python("import threading,subprocess\n"
                                   "t=threading.Thread(target=lambda:0); t.start(); t.join()\n"
                                   "subprocess.run(['true'])")),
              Lines{});
}

TEST_F(DenialKinds, AFloodEndsInOneEventThatCountsTheRest) {
    Session session = open();
    const int count = rounds(10'000);
    const Ran ran = session.attack("attack_refused", {at("o/made"), std::to_string(count), "flood"});
    std::uint64_t all = 0;
    for (const Denial& denial : ran.result.denials) all += 1 + denial.folded;
    EXPECT_EQ(all, static_cast<std::uint64_t>(count));
    EXPECT_EQ(ran.result.denials.size(), 1001u) << "README says after how many";
    EXPECT_EQ(ran.result.cause, Cause::finished);
}

}  // namespace
}  // namespace sandpipe::testing
