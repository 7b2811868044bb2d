// What the proxies let through and what not, by any of their protocols.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sandpipe/explain.hpp>
#include <sandpipe/unique_fd.hpp>

#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProxyRules : public ProxyTest {};

TEST_F(ProxyRules, AllowedByEachProtocol) {
    const TestServer server("http", "origin");
    names().add("ok.test", {"127.0.0.1"});
    Session session = open_domains({"ok.test" + server.at(), "127.0.0.1" + server.at()});
    const Ran ran = talk(session, "p=" + std::to_string(server.port()) + R"(
print(get(f'http://OK.test.:{p}/plain').split('\r\n\r\n')[1],end='')
for s,code in tunnel(f'ok.test:{p}'),socks('ok.test',p),socks('127.0.0.1',p):
  s.sendall(b'GET /x HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n'); print(code,read(s).split(b'\r\n\r\n')[1])
)");
    EXPECT_EQ(ran.out, "origin GET /plain ok.test" + server.at() +
                           "\n200 b'origin GET /x y\\n'\n0 b'origin GET /x y\\n'\n0 b'origin GET /x y\\n'\n");
    EXPECT_THAT(refused(ran), IsEmpty()) << ran.err;
}

/// Listening sockets of this process that the host's network has.
std::size_t open_ports() {
    std::size_t count = 0;
    for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
        std::ifstream lines(table);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream fields(line);
            std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
            if (words.size() < 10 || words[3] != "0A") continue;
            for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
                std::error_code gone;
                if (std::filesystem::read_symlink(entry, gone) == "socket:[" + words[9] + "]") ++count;
            }
        }
    }
    return count;
}

TEST_F(ProxyRules, NothingElseRunsInsideAndNoPortIsOpenOutside) {
    Session session = open_domains({"ok.test"});
    EXPECT_EQ(open_ports(), 0U);
    const Ran ran = talk(session, "import os\nprint(tunnel('bad.test:1')[1],[p for p in os.listdir('/proc') if "
                                  "p.isdigit() and p not in ('1',str(os.getpid()))])");
    EXPECT_EQ(ran.out, "403 []\n") << ran.err;
    const unique_fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(open_ports(), 1U) << "the control";
}

TEST_F(ProxyRules, RefusedByEachProtocol) {
    const TestServer server("http");
    names().add("bad.test", {"127.0.0.1"});
    Session session = open_domains({"ok.test:443", "127.0.0.1" + server.at()});
    const Ran ran = talk(session, "p=" + std::to_string(server.port()) + R"(
print(get(f'http://bad.test:{p}/').split()[1])
print(tunnel('bad.test:443')[1],tunnel('ok.test:22')[1],tunnel('1.2.3.4:443')[1],tunnel('[2001:db8::1]:443')[1])
print(socks('bad.test',443)[1],socks('ok.test',80)[1],socks('1.2.3.4',443)[1],socks('2001:db8::1',443)[1])
)");
    EXPECT_EQ(ran.out, "403\n403 403 403 403\n2 2 2 2\n");
    EXPECT_THAT(refused(ran), ElementsAre("bad.test" + server.at(), "bad.test:443", "ok.test:22", "1.2.3.4:443",
                                          "2001:db8::1:443", "bad.test:443", "ok.test:80", "1.2.3.4:443",
                                          "2001:db8::1:443"));
    EXPECT_EQ(server.connections(), 0);
}

TEST_F(ProxyRules, EachRequestOfAConnectionIsJudged) {
    const TestServer server("http", "origin");
    names().add("ok.test", {"127.0.0.1"});
    names().add("bad.test", {"127.0.0.1"});
    Session session = open_domains({"ok.test", "127.0.0.1" + server.at()});
    const Ran ran = talk(session, "p=" + std::to_string(server.port()) + R"(
s=proxy()
for host in 'ok','bad','ok','bad':
  s.sendall(f'GET http://{host}.test:{p}/ HTTP/1.1\r\nHost: ok.test\r\n\r\n'.encode())
  h=head(s); n=int(h.lower().split('content-length: ')[1].split()[0]); print(h.split()[1],s.recv(n,socket.MSG_WAITALL).decode().split()[0])
s.sendall(f'POST http://bad.test:{p}/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 99999\r\n\r\n'.encode()+b'x'*99999)
print(read(s).decode().split()[1])
# smuggled behind a body, and pipelined
body=f'GET http://bad.test:{p}/ HTTP/1.1\r\nHost: a\r\n\r\n'
print(ask(f'POST http://ok.test:{p}/ HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n{body}GET http://bad.test:{p}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').count('403 Forbidden'))
)");
    EXPECT_EQ(ran.out, "200 origin\n403 sandpipe:\n200 origin\n403 sandpipe:\n403\n1\n") << ran.err;
    EXPECT_EQ(refused(ran).size(), 4U);
    EXPECT_EQ(server.connections(), 3);
}

TEST_F(ProxyRules, ThroughARelayInTheSandboxItIsTheSame) {
    Session session = open_domains({"ok.test:443"});
    const Ran ran = talk(session, R"(
import threading
l=socket.socket(); l.bind(('127.0.0.1',0)); l.listen()
def relay():
  c,_=l.accept(); s=proxy(); s.sendall(c.recv(4096)); c.sendall(read(s)); c.close()
threading.Thread(target=relay).start()
c=socket.create_connection(l.getsockname()); c.sendall(b'CONNECT bad.test:443 HTTP/1.1\r\nConnection: close\r\n\r\n')
print(read(c).split()[1])
)");
    EXPECT_EQ(ran.out, "b'403'\n");
    EXPECT_THAT(refused(ran), ElementsAre("bad.test:443"));
}

TEST_F(ProxyRules, AnExplicitGrantOfLoopbackWorks) {
    const TestServer server("http", "dev");
    const TestServer other("http", "other");
    Session session = open_domains({"localhost" + server.at()});
    const Ran ran =
        session.sh("curl -sS http://localhost" + server.at() + "/a; curl -sS http://localhost" + other.at() +
                   "/; curl -s -o /dev/null -w '%{http_code}\\n' -p https://localhost" + other.at());
    EXPECT_THAT(ran.out, ::testing::StartsWith("dev GET /a localhost" + server.at() + "\nsandpipe: the policy"));
    EXPECT_THAT(refused(ran), ElementsAre("localhost" + other.at(), "localhost" + other.at()));
    EXPECT_EQ(other.connections(), 0);
    EXPECT_EQ(session.sh("curl -sS http://127.0.0.1" + server.at() + "/").code(), 7) << "that is the session's own";
}

TEST_F(ProxyRules, WhatCannotBeReachedIsNoDenial) {
    int closed = 0;
    {
        const TestServer gone("echo");
        closed = gone.port();
    }
    names().add("empty.test", {});
    Session session = open_domains({"none.test", "empty.test", "127.0.0.1"});
    const Ran ran = talk(session, "p=" + std::to_string(closed) + R"(
print(get('http://none.test/').split('\r\n\r\n')[1],end='')
print(tunnel('empty.test:1')[1],tunnel(f'127.0.0.1:{p}')[1],socks('none.test',1)[1],socks('127.0.0.1',p)[1])
)");
    EXPECT_THAT(ran.out, ::testing::StartsWith("sandpipe: none.test does not resolve: "));
    EXPECT_THAT(ran.out, ::testing::EndsWith("\n502 502 4 5\n"));
    EXPECT_THAT(ran.result.denials, IsEmpty());
}

TEST_F(ProxyRules, NoRulesMeanNoProxies) {
    Session session = open_domains({});
    EXPECT_EQ(talk(session, "print(socket.socket().connect_ex(('127.0.0.1',3128)))").out, "111\n");
    EXPECT_EQ(session.sh("env | grep -ci proxy; ls /dev/sandpipe").out, "0\n");
}

TEST_F(ProxyRules, DenyAllIsAWarningAndStillRefuses) {
    Session session = open_domains({"ok.test"}, {"*"});
    EXPECT_THAT(session.warnings(), ElementsAre(HasSubstr("deny * shadows every allow")));
    const Ran ran = talk(session, "print(tunnel('ok.test:443')[1])");
    EXPECT_EQ(ran.out, "403\n");
    EXPECT_EQ(only_denial(ran).rule, "deniedDomains *");
}

TEST_F(ProxyRules, TheCommandNumbersTheWarningsToo) {
    seal();
    ignore_below("lines");
    host("cd w && '" + test_program("sandpipe") +
         "' run --json --allow-domain ok.test --allow-domain a.b --deny-domain ok.test --deny-domain a.b -c "
         "'echo out; curl -s http://ok.test/ >/dev/null; sleep 0.1; echo out' > ../lines");
    std::istringstream lines(read_file(at("lines")));
    std::vector<std::string> events;
    std::uint64_t seq = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto event = nlohmann::json::parse(line);
        events.push_back(event["event"]);
        if (event.contains("seq")) {
            EXPECT_EQ(event["seq"], ++seq) << line;
        }
    }
    EXPECT_THAT(events, ElementsAre("start", "warning", "warning", "stdout", "denied", "stdout", "end"));
}

TEST_F(ProxyRules, TwoSessionsNeverMix) {
    const TestServer a("http", "a");
    const TestServer b("http", "b");
    for (const char* name : {"a.test", "b.test"}) names().add(name, {"127.0.0.1"});
    Session first = open_domains({"a.test" + a.at(), "127.0.0.1" + a.at()});
    Session second = open_domains({"b.test" + b.at(), "127.0.0.1" + b.at()});
    const auto lines = [&](int times) {
        return "for i in range(" + std::to_string(times) + "):\n  print(get('http://a.test" + a.at() +
               "/').split()[1],get('http://b.test" + b.at() + "/').split()[1])\n";
    };
    const int count = rounds(20);
    Running one = first.start(client(lines(count)));
    Running two = second.start(client(lines(count)));
    const Ran ran_one = one.finish();
    const Ran ran_two = two.finish();
    std::string for_one;
    std::string for_two;
    for (int i = 0; i < count; ++i) {
        for_one += "200 403\n";
        for_two += "403 200\n";
    }
    EXPECT_EQ(ran_one.out, for_one);
    EXPECT_EQ(ran_two.out, for_two);
    EXPECT_THAT(refused(ran_one), ::testing::Each("b.test" + b.at()));
    EXPECT_THAT(refused(ran_two), ::testing::Each("a.test" + a.at()));
    EXPECT_EQ(ran_one.result.denials.size() + ran_two.result.denials.size(), 2U * static_cast<unsigned>(count));
}

TEST_F(ProxyRules, ExplainAgrees) {
    const TestServer server("echo");
    const std::string own = server.at();
    Session session = open_domains({"ok.test" + own, "*.sub.test", "[::1]" + own, "127.0.0.1", "localhost:9"},
                                   {"no.sub.test", "*.deep.sub.test" + own});
    for (const char* name : {"ok.test", "a.sub.test", "no.sub.test", "b.deep.sub.test", "sub.test"})
        names().add(name, {"127.0.0.1"});
    const std::vector<std::string> hosts{"ok.test",
                                         "OK.test.",
                                         "a.sub.test",
                                         "no.sub.test",
                                         "b.deep.sub.test",
                                         "deep.sub.test",
                                         "sub.test",
                                         "xsub.test",
                                         "ok.test.sub.tests",
                                         "127.0.0.1",
                                         "127.0.0.2",
                                         "[::1]",
                                         "[::ffff:127.0.0.1]",
                                         "[::2]",
                                         "127.1",
                                         "0x7f000001",
                                         "2130706433",
                                         "localhost",
                                         "127.0.0.1.",
                                         "169.254.169.254"};
    std::string lines;
    int allowed = 0;
    for (const std::string& host : hosts)
        for (const std::string& port : {own, std::string(":9")})
            lines += "print(tunnel('" + host + port + "')[1]==403)\n";
    std::istringstream answers(talk(session, lines).out);
    const Explainer explainer(policy(), at("w"));
    for (const std::string& host : hosts)
        for (const std::string& port : {own, std::string(":9")}) {
            std::string refused;
            answers >> refused;
            const Explanation said = explainer.explain(ExplainedAct::connect, host + port);
            EXPECT_EQ(said.allowed ? "False" : "True", refused) << host << port << ": " << said.rule;
            allowed += said.allowed ? 1 : 0;
        }
    EXPECT_EQ(allowed, 13);
}

TEST_F(ProxyRules, NothingLeadsAroundTheProxies) {
    Session session = open_domains({"ok.test"});
    const Ran ran = session.python(
        "import socket\n"
        "def no(f,k,a):\n"
        "  s=socket.socket(f,k); s.settimeout(3); return s.connect_ex(a)\n"
        "print(no(socket.AF_INET,socket.SOCK_STREAM,('192.0.2.1',443)),no(socket.AF_INET6,socket.SOCK_STREAM,('2001:"
        "db8::1',443)),"
        "no(socket.AF_INET,socket.SOCK_DGRAM,('8.8.8.8',53)),no(socket.AF_INET,socket.SOCK_STREAM,('169.254.169.254',"
        "80)))\n"
        "try: socket.getaddrinfo('ok.test',80)\n"
        "except socket.gaierror as e: print('no name')\n");
    EXPECT_EQ(ran.out, "101 101 101 101\nno name\n") << ran.err;
    std::vector<std::string> each;
    for (const Denial& denial : ran.result.denials) {
        EXPECT_EQ(denial.kind, DenialKind::connect);
        each.push_back(denial.host + ":" + std::to_string(denial.port));
    }
    ASSERT_GE(each.size(), 4U);
    EXPECT_THAT((std::vector<std::string>{each.begin(), each.begin() + 4}),
                ElementsAre("192.0.2.1:443", "2001:db8::1:443", "8.8.8.8:53", "169.254.169.254:80"));
    // The rest asked a name server of this machine's.
    for (std::size_t i = 4; i < each.size(); ++i) EXPECT_THAT(each[i], ::testing::EndsWith(":53"));
    EXPECT_THAT(ran.result.denials[0].rule, HasSubstr("use the proxies that HTTP_PROXY"));
    EXPECT_EQ(names().lookups("ok.test"), 0);
    EXPECT_NE(session.sh("curl --noproxy '*' -sS --max-time 5 http://192.0.2.1/").code(), 0);
}

}  // namespace
}  // namespace sandpipe::testing
