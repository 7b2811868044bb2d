#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sandpipe/unique_fd.hpp>

#include <cstddef>
#include <cstring>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

class Network : public SandboxTest {
  protected:
    /// A listener of the host on 127.0.0.1; its port.
    int listen_on_loopback() {
        listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) < 0 ||
            ::listen(listener_.get(), 16) < 0 ||
            ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) < 0)
            ADD_FAILURE() << std::strerror(errno);
        return ntohs(address.sin_port);
    }
    static std::string dial(int port) {
        return "import socket\ns=socket.socket()\ns.settimeout(5)\nprint(s.connect_ex(('127.0.0.1'," +
               std::to_string(port) + ")))";
    }
    void TearDown() override {
        listener_.reset();
        SandboxTest::TearDown();
    }
    unique_fd listener_;
};

TEST_F(Network, TheHostsLoopbackIsOutOfReach) {
    const int port = listen_on_loopback();
    Session session = open();
    EXPECT_EQ(session.python(dial(port)).out, "111\n");
    SandboxPolicy policy = writable();
    policy.network.disabled = true;
    Session free = open(policy);
    EXPECT_EQ(free.python(dial(port)).out, "0\n");
}

TEST_F(Network, WithTheHostsNetworkTheOtherRulesStay) {
    const int port = listen_on_loopback();
    host("echo secret > w/hidden");
    SandboxPolicy policy = writable();
    policy.network.disabled = true;
    policy.filesystem.deny_read = {"hidden"};
    Session session = open(policy);
    EXPECT_EQ(session.python(dial(port)).out, "0\n");
    const Ran ran =
        session.sh("cat hidden; echo x > ../outside; env | grep -ci proxy; test -e /dev/sandpipe || echo none");
    EXPECT_EQ(ran.out, "0\nnone\n");
    EXPECT_EQ(ran.result.denials.size(), 2U) << ran.err;
}

TEST_F(Network, NoRouteLeadsOut) {
    Session session = open();
    const Ran ran = session.python(
        "import socket\n"
        "for f,k,a in "
        "(socket.AF_INET,socket.SOCK_STREAM,('192.0.2.1',80)),(socket.AF_INET,socket.SOCK_DGRAM,('192.0.2.1',"
        "53)),"
        "(socket.AF_INET6,socket.SOCK_STREAM,('2001:db8::1',80)),(socket.AF_INET,socket.SOCK_DGRAM,('169.254."
        "169.254',80)):\n"
        "  s=socket.socket(f,k); s.settimeout(3); print(s.connect_ex(a))\n"
        "print([n for _,n in socket.if_nameindex()])\n");
    EXPECT_EQ(ran.out, "101\n101\n101\n101\n['lo']\n") << ran.err;
}

TEST_F(Network, TheOwnLoopbackWorks) {
    Session session = open();
    const std::string talk =
        "import socket,threading\n"
        "for f,a in (socket.AF_INET,'127.0.0.1'),(socket.AF_INET6,'::1'):\n"
        "  l=socket.socket(f); l.bind((a,0)); l.listen()\n"
        "  c=socket.create_connection(l.getsockname()[:2]); s,_=l.accept(); s.send(b'hi'); "
        "print(c.recv(9))\n";
    EXPECT_EQ(session.python(talk).out, "b'hi'\nb'hi'\n");
    // Commands of one session share it, and the host has no part in it.
    Running server = session.start(
        Session::python_command("import socket\nl=socket.socket(); l.bind(('127.0.0.1',5555)); l.listen(); "
                                "print('up',flush=True); l.accept()[0].send(b'you'); "));
    server.await_output("up");
    EXPECT_EQ(
        session.python("import socket\nprint(socket.create_connection(('127.0.0.1',5555)).recv(9))").out,
        "b'you'\n");
    EXPECT_EQ(server.finish().code(), 0);
}

/// As it does outside, on most machines; and nothing asks a name server on the way.
TEST_F(Network, TheOwnHostsNameIsAnAddress) {
    ignore_below("w/r");
    Session session = open();
    const Ran ran = session.python("import socket\nprint(socket.gethostbyname(socket.gethostname()))");
    EXPECT_EQ(ran.out, "127.0.0.1\n") << ran.err;
    EXPECT_TRUE(ran.result.denials.empty());
    // git looks for the name of this machine where nobody told it an address.
    const Ran git = session.sh("git init -q r; git -C r -c user.name=n commit -q --allow-empty -m one 2>&1 | wc -l");
    for (const Denial& denial : git.result.denials) EXPECT_NE(denial.kind, DenialKind::connect) << denial.host;
}

TEST_F(Network, SessionsDoNotShareLoopback) {
    Session first = open();
    Session second = open();
    Running server =
        first.start(Session::python_command("import socket\nl=socket.socket(); l.bind(('127.0.0.1',5556)); "
                                            "l.listen(); print('up',flush=True); l.accept()"));
    server.await_output("up");
    EXPECT_EQ(second.python(dial(5556)).out, "111\n");
    server.stop();
    (void)server.finish();
}

TEST_F(Network, AbstractSocketsOfTheHostAreOutOfReach) {
    const unique_fd listener(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const std::string name = "sandpipe-attack-" + std::to_string(::getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
              0);
    const std::string send =
        "import socket\nn=b'\\0" + name +
        "'\nfor make in (lambda:socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)),"
        "(lambda:socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM)[0]):\n"
        "  try: make().sendto(b'x',n); print('sent')\n  except OSError as e: print('refused')\n";
    for (const bool host_network : {false, true}) {
        SandboxPolicy policy = writable();
        policy.network.disabled = host_network;
        Session session = open(policy);
        EXPECT_EQ(session.python(send).out, "refused\nrefused\n") << "network.disabled " << host_network;
    }
    char byte;
    EXPECT_LT(::recv(listener.get(), &byte, 1, 0), 0) << "the host's socket received something";
    host("python3 -I -S -c \"" +
         std::string("import socket; socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM).sendto(b'x',b'\\\\0" +
                     name + "')\""));
    EXPECT_EQ(::recv(listener.get(), &byte, 1, 0), 1) << "the control did not work";
}

TEST_F(Network, ASocketInTheWorkspaceIsNoWayOut) {
    const unique_fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = at("w/s");
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::strcpy(address.sun_path, path.c_str());
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener.get(), 4), 0);
    Session session = open();
    EXPECT_NE(session.python("import socket\nsocket.socket(socket.AF_UNIX).connect('s')").code(), 0);
    host("python3 -I -S -c \"import socket; socket.socket(socket.AF_UNIX).connect('w/s')\"");
}

}  // namespace
}  // namespace sandpipe::testing
