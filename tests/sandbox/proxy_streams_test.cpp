// What passes through the proxies: all of it, in both directions, whatever the pace of either side.
#include <gmock/gmock.h>

#include <sys/resource.h>

#include <fstream>

#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;

class ProxyStreams : public ProxyTest {
  protected:
    void SetUp() override {
        ProxyTest::SetUp();
        names().add("ok.test", {"127.0.0.1"});
    }
    static std::string port(const TestServer& server) { return "p=" + std::to_string(server.port()) + "\n"; }
};

TEST_F(ProxyStreams, HalfClosesLoseNothing) {
    const TestServer sink("sink");
    const TestServer source("source");
    Session session = open_domains({"127.0.0.1"});
    const Ran ran = talk(session, "a,b,n=" + std::to_string(sink.port()) + "," + std::to_string(source.port()) + "," +
                                      std::to_string(rounds(20)) + R"(
for i in range(n):
  for make in (lambda p:tunnel(f'127.0.0.1:{p}')[0]),(lambda p:socks('127.0.0.1',p)[0]):
    data=bytes([i%251])*(1<<20)
    s=make(a); s.sendall(data); s.shutdown(socket.SHUT_WR)
    assert read(s).decode().split()==[str(len(data)),hashlib.sha256(data).hexdigest()]
    s=make(b); s.sendall(b'1048576\n'); assert read(s)==b'y'*(1<<20)
print('all')
)");
    EXPECT_EQ(ran.out, "all\n") << ran.err;
}

TEST_F(ProxyStreams, TheTailReachesASlowReader) {
    const TestServer server("http");
    Session session = open_domains({"ok.test", "127.0.0.1" + server.at()});
    const std::string base = "http://ok.test" + server.at();
    for (int i = 0; i < rounds(3); ++i)
        for (const char* path : {"/bytes/1048576", "/chunks/1048576", "/unsized/1048576"})
            for (const char* way : {"-s", "-sp"}) {
                const Ran ran = session.sh(std::string("curl ") + way + " --limit-rate 8M " + base + path + " | wc -c");
                EXPECT_EQ(ran.out, "1048576\n") << path << " " << way;
            }
}

TEST_F(ProxyStreams, ABodyThatIsCutShortIsAnError) {
    const TestServer server("http");
    Session session = open_domains({"ok.test", "127.0.0.1" + server.at()});
    EXPECT_NE(session.sh("curl -s http://ok.test" + server.at() + "/cut/100000 -o /dev/null").code(), 0);
}

TEST_F(ProxyStreams, ABrokenTunnelIsNoEndOfStream) {
    const TestServer server("reset");
    Session session = open_domains({"127.0.0.1"});
    const Ran ran = talk(session, port(server) + R"(
for s in tunnel(f'127.0.0.1:{p}')[0],socks('127.0.0.1',p)[0]:
  print(len(s.recv(1000,socket.MSG_WAITALL))); s.sendall(b'x')
  try: print(s.recv(1))
  except ConnectionResetError: print('reset')
)");
    EXPECT_EQ(ran.out, "1000\nreset\n1000\nreset\n") << ran.err;
}

TEST_F(ProxyStreams, ABodyThatIsNotMadeOfChunksIsRefused) {
    const TestServer server("mute");
    Session session = open_domains({"127.0.0.1"});
    const Ran ran = talk(session, port(server) + R"(
for body in 'x\r\n','-1\r\nx','3\nabc':
  h=f'POST http://127.0.0.1:{p}/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  print(ask(h+body).split()[1])
)");
    EXPECT_EQ(ran.out, "400\n400\n400\n") << ran.err;
}

TEST_F(ProxyStreams, ManyRequestsOnOneConnection) {
    const TestServer server("http");
    Session session = open_domains({"ok.test", "127.0.0.1" + server.at()});
    const Ran ran = talk(session, port(server) + R"(
s=proxy(); f=s.makefile('rb')
for i in range(50):
  kind=('bytes','chunks')[i%2]
  s.sendall(f'GET http://ok.test:{p}/{kind}/5000 HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
  while f.readline()!=b'\r\n': pass
  if kind=='bytes': assert f.read(5000)==b'x'*5000
  else:
    total=0
    while (n:=int(f.readline(),16)): total+=len(f.read(n)); f.readline()
    f.readline(); assert total==5000
print('all')
)");
    EXPECT_EQ(ran.out, "all\n") << ran.err;
}

TEST_F(ProxyStreams, AWebSocketUpgrade) {
    const TestServer server("http");
    Session session = open_domains({"ok.test", "127.0.0.1" + server.at()});
    const Ran ran = talk(session, port(server) + R"(
s=proxy(); s.sendall(f'GET http://ok.test:{p}/upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst'.encode())
h=head(s); print(h.split()[1],'upgrade: websocket' in h.lower())
data=s.recv(5,socket.MSG_WAITALL); s.sendall(b'second'); print(data,s.recv(6,socket.MSG_WAITALL)); s.shutdown(socket.SHUT_WR); print(read(s))
)");
    EXPECT_EQ(ran.out, "101 True\nb'first' b'second'\nb''\n") << ran.err;
}

TEST_F(ProxyStreams, AQuietTunnelStaysOpen) {
    limits().first_head = 200ms;
    limits().next_head = 200ms;
    limits().connect = 200ms;
    limits().resolve = 200ms;
    const TestServer server("echo");
    Session session = open_domains({"ok.test", "127.0.0.1" + server.at()});
    const Ran ran = talk(session, port(server) + R"(
a=tunnel(f'ok.test:{p}')[0]; b=socks('ok.test',p)[0]
time.sleep(1.5)
for s in a,b: s.sendall(b'still'); print(s.recv(5))
)");
    EXPECT_EQ(ran.out, "b'still'\nb'still'\n") << ran.err;
}

TEST_F(ProxyStreams, ARequestThatDoesNotComeIsNotWaitedFor) {
    limits().first_head = 300ms;
    limits().next_head = 300ms;
    const TestServer server("http");
    Session session = open_domains({"ok.test", "127.0.0.1" + server.at()});
    const Ran ran = talk(session, port(server) + R"(
s=proxy(); print(read(s))
s=proxy(); s.sendall(b'GET http://ok.test/ HT'); print(read(s).split()[1])
s=proxy(1080); s.sendall(b'\x05'); print(read(s))
# drop by drop, and never to the end
s=proxy()
try:
  for c in 'GET http://ok.test/'+'x'*1000: s.sendall(c.encode()); time.sleep(0.02)
except OSError: pass
print(c=='x')
s=proxy(); s.sendall(f'GET http://ok.test:{p}/bytes/1 HTTP/1.1\r\nHost: x\r\n\r\n'.encode()); print(read(s)[-1:])
)");
    EXPECT_EQ(ran.out, "b''\nb'408'\nb''\nTrue\nb'x'\n") << ran.err;
}

TEST_F(ProxyStreams, HeadsHaveALimit) {
    const TestServer server("http");
    Session session = open_domains({"ok.test", "127.0.0.1" + server.at()});
    const Ran ran = talk(session, port(server) + R"(
def field(n): return f'GET http://ok.test:{p}/bytes/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: {"y"*n}\r\n\r\n'
print(ask(field(60000)).split()[1],ask(field(66000)).split()[1],ask('GET http://ok.test/'+'x'*70000).split()[1])
)");
    EXPECT_EQ(ran.out, "200 431 431\n") << ran.err;
    const Ran answers = talk(session, port(server) + R"(
print(get(f'http://ok.test:{p}/head/60000').split()[1],get(f'http://ok.test:{p}/head/66000').split()[1])
)");
    EXPECT_EQ(answers.out, "200 502\n") << answers.err;
}

std::uint64_t resident_bytes() {
    std::uint64_t total = 0;
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> total >> pages;
    return pages * 4096;
}

TEST_F(ProxyStreams, ASlowReaderMakesItsWriterWait) {
    const TestServer source("source");
    const TestServer http("http");
    Session session = open_domains({"127.0.0.1"});
    Running reader = session.start(client("a,b=" + std::to_string(source.port()) + "," + std::to_string(http.port()) + R"(
s=tunnel(f'127.0.0.1:{a}')[0]; s.sendall(b'200000000\n'); r=proxy()
r.sendall(f'GET http://127.0.0.1:{b}/bytes/200000000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'.encode())
print('asked',flush=True); sys.stdin.read(1); print(len(read(s)),head(r).split()[1],len(read(r)))
)").input(Input::stream()));
    reader.await_output("asked");
    [[maybe_unused]] const std::uint64_t before = resident_bytes();
    idle_for(1s);
    EXPECT_LT(resident_bytes(), before + (16U << 20U)) << "400 MB were on their way, and nobody read";
    reader.write("x");
    EXPECT_EQ(reader.finish().out, "asked\n200000000 200 200000000\n");
}

/// Nor does one that is never read make the host keep it.
TEST_F(ProxyStreams, AnOriginThatReadsNothingMakesItsWriterWait) {
    const TestServer deaf("deaf");
    Session session = open_domains({"127.0.0.1"});
    [[maybe_unused]] const std::uint64_t before = resident_bytes();
    Running writer = session.start(client(port(deaf) + R"(
s=tunnel(f'127.0.0.1:{p}')[0]; r=proxy()
r.sendall(f'POST http://127.0.0.1:{p}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n'.encode())
for c in s,r:
  c.settimeout(1); n=0
  try:
    while n<200000000: n+=c.send(b'x'*100000)
  except TimeoutError: pass
  print(n<100000000)
print('stuck',flush=True); time.sleep(1000)
)"));
    writer.await_output("stuck");
    EXPECT_EQ(writer.output(), "True\nTrue\nstuck\n");
    EXPECT_LT(resident_bytes(), before + (16U << 20U));
    writer.stop();
    (void)writer.finish();
}

TEST_F(ProxyStreams, FiveHundredAtOnce) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 4096) GTEST_SKIP() << "ulimit -n is below 4096 here";
    const TestServer server("echo");
    Session session = open_domains({"127.0.0.1"});
    [[maybe_unused]] const std::uint64_t before = resident_bytes();
    Running crowd = session.start(client(port(server) + R"(
all=[tunnel(f'127.0.0.1:{p}') for _ in range(500)]; print([c for _,c in all].count(200),flush=True)
for i,(s,_) in enumerate(all): s.sendall(b'%04d'%i)
for i,(s,_) in enumerate(all): assert s.recv(4,socket.MSG_WAITALL)==b'%04d'%i
print('all',flush=True); sys.stdin.read(1)
)").input(Input::stream()));
    crowd.await_output("all");
    idle_for(200ms);
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(resident_bytes(), before + (64U << 20U));
#endif
    crowd.write("x");
    EXPECT_EQ(crowd.finish().out, "500\nall\n");
    EXPECT_EQ(server.connections(), 500);
}

TEST_F(ProxyStreams, MoreThanTheLimitWaitTheirTurn) {
    limits().connections = 3;
    const TestServer server("echo");
    Session session = open_domains({"127.0.0.1"});
    const Ran ran = talk(session, port(server) + R"(
held=[tunnel(f'127.0.0.1:{p}')[0] for _ in range(3)]
late=proxy(); late.sendall(f'CONNECT 127.0.0.1:{p} HTTP/1.1\r\n\r\n'.encode()); late.settimeout(0.5)
try: print(late.recv(1))
except TimeoutError: print('waits')
held.pop().close(); late.settimeout(30); print(head(late).split()[1])
)");
    EXPECT_EQ(ran.out, "waits\n200\n") << ran.err;
}

}  // namespace
}  // namespace sandpipe::testing
