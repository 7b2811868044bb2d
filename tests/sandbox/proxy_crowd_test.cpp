// Commands that take all that a proxy gives: other sessions, and the host, go on.
#include <gmock/gmock.h>

#include <sys/resource.h>

#include <filesystem>
#include <iterator>

#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;

class ProxyCrowd : public ProxyTest {
  protected:
    static std::size_t descriptors() {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
    }
    /// Asks for `count` tunnels, whether they are answered or not, and holds them.
    static std::string hold(const TestServer& server, int count) {
        return "p=" + std::to_string(server.port()) + "\nheld=[]\nfor i in range(" + std::to_string(count) + R"():
  s=proxy(); s.sendall(f'CONNECT 127.0.0.1:{p} HTTP/1.1\r\n\r\n'.encode()); held.append(s)
print('up',flush=True); time.sleep(1000)
)";
    }
};

/// The host's soft limit of descriptors, lowered for a test.
class FewDescriptors {
  public:
    explicit FewDescriptors(rlim_t count) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit few{count, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

TEST_F(ProxyCrowd, SeveralSessionsLeaveTheHostItsDescriptors) {
    constexpr std::size_t kLimit = 512;
    const TestServer echo("echo");
    const TestServer server("http", "origin");
    const FewDescriptors few(kLimit);
    std::vector<Session> sessions;
    std::vector<Running> crowds;
    const std::size_t before = descriptors();
    for (int i = 0; i < 4; ++i) {
        sessions.push_back(open_domains({"127.0.0.1"}));
        crowds.push_back(sessions.back().start(client(hold(echo, 200))));
        crowds.back().await_output("up");
    }
    idle_for(500ms);
    const std::size_t held = descriptors() - before;
    EXPECT_GT(held, kLimit / 4) << "the crowds have their share";
    EXPECT_LT(descriptors(), kLimit - kLimit / 8) << "the host needs some too";
    // Who comes last is served too.
    Session last = open_domains({"127.0.0.1"});
    const Ran ran = talk(last, "print([get('http://127.0.0.1" + server.at() + "/').split()[1] for _ in range(20)])");
    EXPECT_EQ(ran.out.substr(0, 6), "['200'") << ran.err;
    EXPECT_EQ(ran.out.find("50"), std::string::npos);
    for (Running& crowd : crowds) {
        crowd.stop();
        (void)crowd.finish();
    }
}

/// Connections that come and go, that are held, and that say what is no request: thousands, from one command.
TEST_F(ProxyCrowd, AFloodHoldsUpNobodyElse) {
    const TestServer server("http", "origin");
    Session attacker = open_domains({"127.0.0.1"});
    Session other = open_domains({"127.0.0.1" + server.at()});
    Running flood = attacker.start(client(R"(
import os,resource,threading
resource.setrlimit(resource.RLIMIT_NOFILE,(resource.getrlimit(resource.RLIMIT_NOFILE)[1],)*2)
def connect(port):
  s=socket.socket(); s.settimeout(5)
  try: s.connect(('127.0.0.1',port))
  except OSError: pass
  return s
def work(n):
  held=[]
  for i in range(1700):
    s=connect((3128,1080)[i%2])
    try: s.send((b'',os.urandom(300),b'GET http://',b'CONNECT bad.test:1 HTTP/1.1\r\n\r\n',b'\x05\x01\x00\x05\x01\x00\x03\x05')[i%5])
    except OSError: pass
    if i%3==0: held.append(s)
    if i==300: print('up',flush=True)
  time.sleep(1000)
threads=[threading.Thread(target=work,args=(n,)) for n in range(3)]
for t in threads: t.start()
)"));
    flood.await_output("up");
    const std::string url = "http://127.0.0.1" + server.at() + "/";
    const Ran ran = talk(other, "print({get('" + url + "').split()[1] for _ in range(200)},tunnel('bad.test:1')[1])");
    EXPECT_EQ(ran.out, "{'200'} 403\n") << ran.err;
    EXPECT_EQ(refused(ran).size(), 1U) << "its own, and none of the flood's";
    EXPECT_EQ(open().sh("echo starts").out, "starts\n");
    attacker.close();
    (void)flood.finish();
}

TEST_F(ProxyCrowd, ClosesWhileTwoHundredTunnelsAreBusy) {
    const TestServer echo("echo");
    std::size_t before = 0;
    for (int i = 0; i < rounds(2) + 1; ++i) {
        // After the first, with all that the Runtime keeps.
        if (i == 1) before = descriptors();
        Session session = open_domains({"127.0.0.1"});
        Running busy = session.start(client("p=" + std::to_string(echo.port()) + R"(
import threading
all=[tunnel(f'127.0.0.1:{p}')[0] for _ in range(200)]
def pump(part):
  while True:
    for s in part: s.sendall(b'x'*20000)
    for s in part: s.recv(20000,socket.MSG_WAITALL)
for k in range(4): threading.Thread(target=pump,args=(all[k::4],),daemon=True).start()
time.sleep(0.2); print('up',flush=True); time.sleep(1000)
)"));
        busy.await_output("up");
        session.close();
        (void)busy.finish();
    }
    EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace sandpipe::testing
