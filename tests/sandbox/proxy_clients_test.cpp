// Programs as they are, by the variables that every command of a session with domain rules gets.
#include <gmock/gmock.h>

#include <cstdlib>

#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProxyClients : public ProxyTest {
  protected:
    /// A session that may reach `server` as ok.test and nothing else.
    Session open_for(const TestServer& server) {
        names().add("ok.test", {"127.0.0.1"});
        names().add("bad.test", {"127.0.0.1"});
        return open_domains({"ok.test", "127.0.0.1" + server.at()});
    }
    static std::string url(const TestServer& server, const std::string& path = "/") {
        return "http://ok.test" + server.at() + path;
    }
};

TEST_F(ProxyClients, Curl) {
    const TestServer server("http", "origin");
    Session session = open_for(server);
    EXPECT_EQ(session.sh("curl -sS " + url(server)).out, "origin GET / ok.test" + server.at() + "\n");
    EXPECT_EQ(session.sh("curl -sSp " + url(server)).out, "origin GET / ok.test" + server.at() + "\n");
    EXPECT_EQ(session.sh("curl -sS -x \"$ALL_PROXY\" " + url(server)).out, "origin GET / ok.test" + server.at() + "\n");
    EXPECT_EQ(session.sh("curl -sS --data-binary hello " + url(server)).out, "hello");
    // Over 1 MiB curl waits for "100 Continue".
    EXPECT_EQ(
        session.sh("head -c 3000000 /dev/zero > big; curl -sS --data-binary @big " + url(server) + " | wc -c; rm big")
            .out,
        "3000000\n");
    const Ran refusal = session.sh("curl -sS http://bad.test/");
    EXPECT_THAT(refusal.out, HasSubstr("does not allow bad.test:80: not in allowedDomains: 127.0.0.1"));
    EXPECT_THAT(refused(refusal), ElementsAre("bad.test:80"));
    const Ran secure = session.sh("curl -sS https://bad.test/");
    EXPECT_THAT(secure.err, HasSubstr("403"));
    EXPECT_THAT(refused(secure), ElementsAre("bad.test:443"));
}

TEST_F(ProxyClients, Wget) {
    const TestServer server("http", "origin");
    Session session = open_for(server);
    EXPECT_EQ(session.sh("wget -qO- " + url(server)).out, "origin GET / ok.test" + server.at() + "\n");
    const Ran refusal = session.sh("wget -O- http://bad.test/");
    EXPECT_THAT(refusal.err, HasSubstr("403"));
    EXPECT_THAT(refused(refusal), ElementsAre("bad.test:80"));
}

TEST_F(ProxyClients, PythonsUrllib) {
    const TestServer server("http", "origin");
    Session session = open_for(server);
    EXPECT_EQ(session.python("import urllib.request as u\nprint(u.urlopen('" + url(server) + "').read())").out,
              "b'origin GET / ok.test" + server.at() + "\\n'\n");
    const Ran refusal = session.python("import urllib.request as u\nu.urlopen('https://bad.test/')");
    EXPECT_THAT(refusal.err, HasSubstr("403"));
    EXPECT_THAT(refused(refusal), ElementsAre("bad.test:443"));
}

TEST_F(ProxyClients, NodesFetch) {
    // A number whose thousands are the major version.
    const Ran version = open().sh("node -p 'const [a,b]=process.versions.node.split(\".\"); a*1000+ +b'");
    const int number = std::atoi(version.out.c_str());
    if (number < 22021 || number / 1000 == 23)
        GTEST_SKIP() << "node is missing, or its fetch does not know NODE_USE_ENV_PROXY, as from 22.21 and 24.0 on";
    const TestServer server("http", "origin");
    Session session = open_for(server);
    EXPECT_EQ(session.sh("node -e \"fetch('" + url(server) + "').then(r=>r.text()).then(console.log)\"").out,
              "origin GET / ok.test" + server.at() + "\n\n");
    EXPECT_THAT(refused(session.sh("node -e \"fetch('https://bad.test/').catch(()=>{})\"")),
                ElementsAre("bad.test:443"));
}

/// Clients that speak something else are told at once, in what they understand, and do not wait for a time to be
/// over.
TEST_F(ProxyClients, OtherProtocolsAreAnsweredAtOnce) {
    const TestServer server("http", "origin");
    Session session = open_for(server);
    const std::string own = " --max-time 20 " + url(server);
    const Ran old = session.sh("for v in 4 4a; do curl -sS --socks$v 127.0.0.1:1080" + own + " --resolve ok.test" +
                               server.at() + ":127.0.0.1; echo $?; done");
    EXPECT_EQ(old.out, "97\n97\n");
    EXPECT_THAT(old.err, HasSubstr("request rejected or failed"));
    EXPECT_EQ(session.sh("curl -sS -x http://127.0.0.1:1080" + own).out,
              "sandpipe: this is a SOCKS5 proxy; HTTP has a port of its own\n");
    EXPECT_EQ(session.sh("curl -sS -x https://127.0.0.1:3128" + own).code(), 35);
    EXPECT_EQ(session.sh("curl -sS -x socks5h://127.0.0.1:3128" + own).code(), 97);
    const Ran raw = talk(session, R"(
for text in b'\x16\x03\x01\x00',b'\x05\x01\x00',b'hello\r\n',b'GET http://ok.test/\r\n',b'PRI * HTTP/2.0\r\n':
  t=time.time(); print(ask(text).split()[1],time.time()-t<15)
)");
    EXPECT_EQ(raw.out, "400 True\n400 True\n400 True\n400 True\n400 True\n") << raw.err;
    EXPECT_THAT(raw.result.denials, IsEmpty());
    EXPECT_EQ(server.connections(), 0);
    EXPECT_EQ(session.sh("curl -sS --socks5-hostname 127.0.0.1:1080" + own).code(), 0);
}

TEST_F(ProxyClients, AnyMethod) {
    const TestServer server("http", "origin");
    Session session = open_for(server);
    EXPECT_EQ(session.sh("curl -sS -o /dev/null -w '%{http_code}' -X QUERY -d x " + url(server)).out, "501")
        << "that is the origin's answer";
    EXPECT_EQ(server.connections(), 1);
    EXPECT_THAT(refused(session.sh("curl -sS -X QUERY http://bad.test/")), ElementsAre("bad.test:80"));
}

TEST_F(ProxyClients, PythonsHttpx) {
    if (std::system("/usr/bin/python3 -c 'import httpx' 2>/dev/null") != 0)
        GTEST_SKIP() << "Python's httpx is missing (Debian package python3-httpx)";
    const TestServer server("http", "origin");
    Session session = open_for(server);
    EXPECT_EQ(session.sh("/usr/bin/python3 -c 'import httpx; print(httpx.get(\"" + url(server) + "\").text)'").out,
              "origin GET / ok.test" + server.at() + "\n\n");
    EXPECT_THAT(refused(session.sh("/usr/bin/python3 -c 'import httpx; httpx.get(\"https://bad.test/\")'")),
                ElementsAre("bad.test:443"));
}

TEST_F(ProxyClients, GitOverHttp) {
    host("git init -q --bare c/r.git && git -C c/r.git update-server-info && mkdir c/src && cd c/src && git init -q && "
         "git -c user.name=n -c user.email=e@x commit -q --allow-empty -m one && git push -q ../r.git HEAD:main && "
         "git -C ../r.git symbolic-ref HEAD refs/heads/main && git -C ../r.git update-server-info");
    ignore_below("w/clone");
    const TestServer server("files", at("c"));
    Session session = open_for(server);
    EXPECT_THAT(session.sh("git clone -q " + url(server, "/r.git") + " clone && git -C clone log --format=%s").out,
                ::testing::EndsWith("one\n"));
    const Ran refusal = session.sh("git ls-remote http://bad.test/r.git");
    EXPECT_THAT(refusal.err, HasSubstr("403"));
    EXPECT_THAT(refused(refusal), ElementsAre("bad.test:80"));
}

TEST_F(ProxyClients, SshGoesThroughTheRelay) {
    const TestServer server("banner");
    names().add("git.test", {"127.0.0.1"});
    Session session = open_domains({"git.test:" + std::to_string(server.port()), "127.0.0.1" + server.at()});
    const Ran ran =
        session.sh("GIT_SSH_COMMAND=\"$GIT_SSH_COMMAND -v\" git ls-remote ssh://git@git.test" + server.at() + "/r");
    EXPECT_THAT(ran.err, HasSubstr("remote software version testserver"));
    EXPECT_EQ(server.connections(), 1);
    const Ran refusal = session.sh("git ls-remote ssh://git@bad.test/r");
    EXPECT_THAT(refusal.err,
                HasSubstr("sandpipe-launcher connect: bad.test:22: sandpipe: the policy of this sandbox does "
                          "not allow bad.test:22: not in allowedDomains: 127.0.0.1"));
    EXPECT_THAT(refused(refusal), ElementsAre("bad.test:22"));
    EXPECT_EQ(only_denial(refusal).program, "launcher");
}

TEST_F(ProxyClients, TheRelayCarriesBothDirectionsToTheirEnds) {
    const TestServer sink("sink");
    const TestServer source("source");
    Session session = open_domains({"127.0.0.1"});
    const std::string relay = "/dev/sandpipe/launcher connect 127.0.0.1 ";
    const std::string size = std::to_string(3'000'000 * rounds(1));
    const Ran up = session.sh("head -c " + size + " /dev/zero | " + relay + std::to_string(sink.port()) +
                              "; head -c " + size + " /dev/zero | sha256sum");
    EXPECT_EQ(up.out.substr(0, size.size() + 65),
              size + " " + up.out.substr(size.size() + 66, 64));
    EXPECT_EQ(session.sh("echo " + size + " | " + relay + std::to_string(source.port()) + " | wc -c").out, size + "\n");
    EXPECT_EQ(session.sh("/dev/sandpipe/launcher connect 'a b' 1").code(), 1);
    EXPECT_EQ(session.sh("echo x > /dev/sandpipe/launcher; rm -f /dev/sandpipe/launcher; ls /dev/sandpipe").out,
              "launcher\n");
}

TEST_F(ProxyClients, WithoutAFileSystemOfItsOwnThereIsNoRelay) {
    const TestServer server("http", "origin");
    policy().filesystem = {};
    policy().filesystem.disabled = true;
    Session session = open_for(server);
    EXPECT_EQ(session.sh("echo \"[$GIT_SSH_COMMAND]\"; curl -sS " + url(server)).out,
              "[]\norigin GET / ok.test" + server.at() + "\n");
}

TEST_F(ProxyClients, ACallsOwnVariablesPrevail) {
    const TestServer server("http");
    Session session = open_for(server);
    BinaryInvocation call = session.shell("echo $HTTP_PROXY $NO_PROXY");
    call.env(Environment::empty().set("HTTP_PROXY", "http://x").unset("NO_PROXY"));
    EXPECT_EQ(session.run(std::move(call)).out, "http://x\n");
}

}  // namespace
}  // namespace sandpipe::testing
