// Which command's stream has the denial, at which place, and what it says.
#include <gmock/gmock.h>

#include <sandpipe/text_renderer.hpp>

#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProxyDenials : public ProxyTest {};

TEST_F(ProxyDenials, HasHostPortRuleReasonAndProgram) {
    policy().network.denied_domain_reasons = {{"*.ads.test", "use the mirror"}};
    Session session = open_domains({"*.test.example"}, {"*.ads.test"});
    const Ran ran = session.sh("curl -s https://x.ads.test:8443/");
    const Denial& denial = only_denial(ran);
    EXPECT_EQ(denial.kind, DenialKind::domain);
    EXPECT_EQ(denial.operation, "connect");
    EXPECT_EQ(denial.host, "x.ads.test");
    EXPECT_EQ(denial.port, 8443);
    EXPECT_EQ(denial.rule, "deniedDomains *.ads.test");
    EXPECT_EQ(denial.reason, "use the mirror");
    EXPECT_EQ(denial.error, EACCES);
    EXPECT_EQ(denial.program, "curl");
    EXPECT_GT(denial.pid, 1);
    EXPECT_EQ(denial.path, "");
    EXPECT_FALSE(denial.probe);
    EXPECT_EQ(marker_line("m", denial),
              "[sandbox m] denied: domain x.ads.test:8443 (rule: deniedDomains *.ads.test; use the mirror)");
    const Ran body = session.sh("curl -s http://x.ads.test/");
    EXPECT_THAT(body.out, HasSubstr("does not allow x.ads.test:80 (rule: deniedDomains *.ads.test): use the mirror"));
}

TEST_F(ProxyDenials, ItsPlaceIsExact) {
    Session session = open_domains({"ok.test"});
    for (int i = 0; i < rounds(5); ++i) {
        const Ran ran = talk(session, R"(
print('before',flush=True); print('err',file=sys.stderr,flush=True)
print(tunnel('bad.test:443')[1],flush=True); print('after',flush=True)
)");
        EXPECT_THAT(ran.story,
                    ::testing::AnyOf("before\nerr\n<connect >403\nafter\n", "err\nbefore\n<connect >403\nafter\n"));
    }
}

TEST_F(ProxyDenials, CommandsAtOnceEachHaveTheirOwn) {
    Session session = open_domains({"ok.test"});
    const int count = rounds(20);
    std::vector<Running> running;
    for (const char* name : {"one", "two", "three"})
        running.push_back(session.start(client("for i in range(" + std::to_string(count) + "): tunnel('" + name +
                                               ".test:443'); socks('" + name + ".test',80)")));
    for (const std::string name : {"one", "two", "three"}) {
        const Ran ran = running[name == "one" ? 0 : name == "two" ? 1 : 2].finish();
        EXPECT_THAT(ran.result.denials, SizeIs(2 * count)) << ran.err;
        for (const Denial& denial : ran.result.denials) {
            EXPECT_EQ(denial.host, name + ".test");
            EXPECT_EQ(denial.program, "python3");
        }
    }
}

TEST_F(ProxyDenials, TheProcessThatAskedIsNamed) {
    Session session = open_domains({"ok.test"});
    const Ran ran = session.sh("exec 3<>/dev/tcp/127.0.0.1/1080; (curl -s http://bad.test/ >/dev/null); true");
    EXPECT_EQ(only_denial(ran).program, "curl");
    // Over IPv6, by a mapped address, it is found too.
    const Ran mapped = talk(session, R"(
s=socket.socket(socket.AF_INET6); s.connect(('::ffff:127.0.0.1',3128)); s.sendall(b'CONNECT bad.test:1 HTTP/1.1\r\n\r\n'); print(head(s).split()[1])
)");
    EXPECT_EQ(mapped.out, "403\n");
    EXPECT_EQ(only_denial(mapped).program, "python3");
}

TEST_F(ProxyDenials, AProcessThatIsGoneIsStillItsCommands) {
    Session session = open_domains({"ok.test"});
    const Ran ran = session.sh(
        "for i in 1 2 3 4 5; do (exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT bad.test:443 HTTP/1.1\\r\\n\\r\\n' "
        ">&3); "
        "done; curl -s http://last.test/ > /dev/null");
    EXPECT_THAT(ran.result.denials, SizeIs(6));
    EXPECT_EQ(ran.result.denials.back().host, "last.test");
}

TEST_F(ProxyDenials, AlsoWithoutFileRules) {
    policy().filesystem = {};
    policy().filesystem.disabled = true;
    Session session = open_domains({"ok.test"});
    EXPECT_EQ(only_denial(session.sh("curl -s http://bad.test/")).host, "bad.test");
}

// curl would make an address of each; what asks for it as it is must not be told less.
TEST_F(ProxyDenials, SpellingsThatSomeTakeForAnAddress) {
    Session session = open_domains({"127.0.0.1", "ok.test"});
    const Ran ran = talk(session, R"(
for host in '0x7f.1','2130706433','127.1','0177.0.0.1':
  print(get(f'http://{host}/').split()[1],tunnel(f'{host}:80')[1],socks(host,80)[1])
)");
    EXPECT_EQ(ran.out, "403 403 2\n403 403 2\n403 403 2\n403 403 2\n") << ran.err;
    ASSERT_THAT(ran.result.denials, SizeIs(12));
    EXPECT_THAT(ran.result.denials, Each(::testing::Field(&Denial::kind, DenialKind::domain)));
    EXPECT_EQ(ran.result.denials[0].host, "0x7f.1");
    EXPECT_EQ(ran.result.denials[0].port, 80);
    EXPECT_THAT(ran.result.denials[0].reason.value_or(""), HasSubstr("ends in a number"));
    EXPECT_EQ(names().lookups("127.1"), 0);
}

TEST_F(ProxyDenials, MalformedRequestsAreNone) {
    Session session = open_domains({"ok.test"});
    const Ran ran = talk(session, R"(
for text in 'GET / HTTP/1.1\r\nHost: x\r\n\r\n','GET http://u@ok.test/ HTTP/1.1\r\nHost: x\r\n\r\n','\x16\x03\x01\r\n\r\n':
  print(ask(text).split()[1])
)");
    EXPECT_EQ(ran.out, "400\n400\n400\n");
    EXPECT_THAT(ran.result.denials, IsEmpty());
}

}  // namespace
}  // namespace sandpipe::testing
