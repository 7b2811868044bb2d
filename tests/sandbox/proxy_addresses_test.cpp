// Where names lead: which addresses are dialled, in which order, and which are refused whatever name leads there.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sandpipe/unique_fd.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

#include "sandbox/network/own_addresses.hpp"
#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProxyAddresses : public ProxyTest {};

/// On an address where nobody answers at all: its queue of connections is full.
class Silent {
  public:
    Silent(const char* text, int port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        ::inet_pton(AF_INET, text, &address.sin_addr);
        const auto* place = reinterpret_cast<const sockaddr*>(&address);
        if (::bind(listener_.get(), place, sizeof address) < 0 || ::listen(listener_.get(), 0) < 0)
            throw std::runtime_error("no silent address");
        for (unique_fd& filler : fillers_) {
            filler.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            (void)::connect(filler.get(), place, sizeof address);
        }
    }

  private:
    unique_fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::array<unique_fd, 4> fillers_;
};

TEST_F(ProxyAddresses, NamesOfLocalAddressesAreRefusedUnlessTheAddressIsListed) {
    const TestServer server("http");
    const std::vector<std::string> addresses{"127.0.0.1",        "::1",     "0.0.0.0",   "169.254.169.254",
                                             "::ffff:127.0.0.1", "fe80::1", "224.0.0.1", "64:ff9b::7f00:1"};
    std::string lines;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        names().add("r" + std::to_string(i) + ".test", {addresses[i]});
        lines +=
            "print(get('http://r" + std::to_string(i) + ".test" + server.at() + "/').split('\\r\\n\\r\\n')[1])\n";
    }
    names().add("here.test", {"127.0.0.1"});
    Session session = open_domains(
        {"*.r.test", "r0.test", "r1.test", "r2.test", "r3.test", "r4.test", "r5.test", "r6.test", "r7.test"});
    const Ran ran = talk(session, lines);
    EXPECT_EQ(ran.result.denials.size(), addresses.size()) << ran.err;
    for (const Denial& denial : ran.result.denials)
        EXPECT_THAT(denial.reason.value_or(""), HasSubstr("resolves to local address"));
    EXPECT_EQ(ran.result.denials[0].resolved, "127.0.0.1");
    EXPECT_THAT(ran.out, HasSubstr("resolves to local address 169.254.169.254" + server.at() + " (metadata)"));
    EXPECT_EQ(server.connections(), 0);
}

TEST_F(ProxyAddresses, TheHostsOwnAddressesAreLocalToo) {
    std::vector<std::string> own;
    for (const IpAddress& address : own_addresses())
        if (!needs_own_rule(classify(address))) own.push_back(address.text());
    if (own.empty()) GTEST_SKIP() << "this machine has loopback addresses only";
    names().add("me.test", {own.front()});
    Session session = open_domains({"me.test"});
    const Ran ran = talk(session, "print(tunnel('me.test:1')[1])");
    EXPECT_EQ(ran.out, "403\n");
    EXPECT_THAT(only_denial(ran).reason.value_or(""), HasSubstr("(an address of this machine)"));
}

/// What the kernel keeps for itself is more than the interfaces' addresses.
TEST_F(ProxyAddresses, WhatRoutesLeadHereIsLocalToo) {
    const auto address = [](const char* text) { return IpAddress::parse(text).value(); };
    for (const char* here : {"127.9.9.9", "::1", "::ffff:127.0.0.1", "255.255.255.255"})
        EXPECT_TRUE(leads_here(address(here))) << here;
    for (const char* elsewhere : {"192.0.2.1", "198.51.100.7", "2001:db8::1"})
        EXPECT_FALSE(leads_here(address(elsewhere))) << elsewhere;
    const std::vector<IpAddress> own = own_addresses();
    EXPECT_EQ(std::find(own.begin(), own.end(), address("127.9.9.9")), own.end());
    EXPECT_EQ(own_among({address("192.0.2.1"), address("127.9.9.9")}), std::vector<IpAddress>{address("127.9.9.9")});
    for (const IpAddress& one : own) EXPECT_EQ(own_among({one}), std::vector<IpAddress>{one}) << one.text();
}

TEST_F(ProxyAddresses, ThereIsOneLookupAndItsAddressIsDialled) {
    const TestServer server("http");
    names().add("turn.test", {"127.0.0.1"});
    names().add("turn.test", {"169.254.169.254"});
    Session session = open_domains({"turn.test", "127.0.0.1" + server.at()});
    const int count = rounds(50);
    const Ran ran = talk(session, "print([get('http://turn.test" + server.at() + "/').split()[1] for _ in range(" +
                                      std::to_string(count) + ")])");
    std::string expected = "[";
    for (int i = 0; i < count; ++i) expected += std::string(i == 0 ? "" : ", ") + (i % 2 == 0 ? "'200'" : "'403'");
    EXPECT_EQ(ran.out, expected + "]\n");
    EXPECT_EQ(names().lookups("turn.test"), count);
    EXPECT_EQ(ran.result.denials.size(), static_cast<std::size_t>(count / 2));
}

TEST_F(ProxyAddresses, Ipv6ByEachProtocol) {
    const TestServer server("http6", "origin");
    names().add("six.test", {"::1"});
    Session session = open_domains({"six.test", "[::1]" + server.at()});
    const Ran ran = talk(session, "p=" + std::to_string(server.port()) + R"(
print(get(f'http://[::1]:{p}/a').split('\r\n\r\n')[1],end='')
print(get(f'http://six.test:{p}/b').split('\r\n\r\n')[1],end='')
for s,code in tunnel(f'[::1]:{p}'),tunnel(f'[0:0::1]:{p}'),socks('::1',p),socks('six.test',p):
  s.sendall(b'GET /x HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n'); print(code,read(s).split(b'\r\n\r\n')[1])
print(tunnel('[::1]:9')[1],tunnel(f'[::2]:{p}')[1],socks('::2',p)[1])
)");
    EXPECT_EQ(ran.out, "origin GET /a [::1]" + server.at() + "\norigin GET /b six.test" + server.at() +
                           "\n200 b'origin GET /x y\\n'\n200 b'origin GET /x y\\n'\n0 b'origin GET /x y\\n'\n"
                           "0 b'origin GET /x y\\n'\n403 403 2\n")
        << ran.err;
}

TEST_F(ProxyAddresses, FurtherAddressesAreTriedInTurn) {
    const TestServer server("http", "second");
    names().add("many.test", {"169.254.169.254", "127.0.0.9", "127.0.0.1"});
    Session session = open_domains({"many.test", "127.0.0.1" + server.at(), "127.0.0.9"});
    const Ran ran = talk(session, "print(get('http://many.test" + server.at() + "/').split()[1])");
    EXPECT_EQ(ran.out, "200\n");
    EXPECT_THAT(refused(ran), IsEmpty());
}

TEST_F(ProxyAddresses, AnAddressThatDoesNotAnswerIsLeftForTheNext) {
    const TestServer server("http", "second");
    const Silent silent("127.0.0.9", server.port());
    names().add("many.test", {"127.0.0.9", "127.0.0.1"});
    names().add("one.test", {"127.0.0.9"});
    limits().connect = std::chrono::milliseconds{1500};
    limits().connect_next = std::chrono::milliseconds{300};
    Session session = open_domains({"many.test", "one.test", "127.0.0.1", "127.0.0.9"});
    const Ran ran = talk(session, "for n in 'many','one': print(get(f'http://{n}.test" + server.at() +
                                      "/').split('\\r\\n\\r\\n')[1],end='')\nprint(socks('one.test'," +
                                      std::to_string(server.port()) + ")[1])");
    EXPECT_EQ(ran.out, "second GET / many.test" + server.at() + "\nsandpipe: cannot connect to one.test" +
                           server.at() + ": Connection timed out\n4\n");
    EXPECT_THAT(ran.result.denials, IsEmpty());
}

}  // namespace
}  // namespace sandpipe::testing
