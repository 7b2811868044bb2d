#include "launcher/supervisor/socket_address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace sandpipe::launcher {
namespace {

SocketAddress of_bytes(const void* bytes, std::size_t size) {
    SocketAddress address;
    std::memcpy(&address.bytes, bytes, size);
    address.size = static_cast<socklen_t>(size);
    return address;
}

SocketAddress inet(const std::string& host, std::uint16_t port) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) return of_bytes(&four, sizeof four);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    EXPECT_EQ(::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr), 1) << host;
    return of_bytes(&six, sizeof six);
}

SocketAddress unix_name(const std::string& name) {
    sockaddr_un named{};
    named.sun_family = AF_UNIX;
    std::memcpy(named.sun_path, name.data(), name.size());
    return of_bytes(&named, offsetof(sockaddr_un, sun_path) + name.size());
}

TEST(SocketAddress, WhatStaysWithin) {
    const struct {
        const char* host;
        bool within;
    } cases[] = {{"127.0.0.1", true},        {"127.255.255.254", true}, {"0.0.0.0", true},
                 {"::1", true},              {"::", true},              {"::ffff:127.0.0.1", true},
                 {"::ffff:0.0.0.0", true},   {"128.0.0.1", false},      {"126.255.255.255", false},
                 {"10.0.0.1", false},        {"169.254.169.254", false}, {"255.255.255.255", false},
                 {"224.0.0.1", false},       {"::2", false},            {"fe80::1", false},
                 {"::ffff:10.0.0.1", false}, {"ff02::1", false},        {"::127.0.0.1", false}};
    for (const auto& [host, within] : cases) {
        InetPeer peer;
        ASSERT_TRUE(parse_inet(inet(host, 80), peer)) << host;
        EXPECT_EQ(peer.within, within) << host;
        EXPECT_EQ(peer.port, 80);
    }
}

TEST(SocketAddress, InNumbersAsTheUserWouldWriteThem) {
    InetPeer peer;
    ASSERT_TRUE(parse_inet(inet("192.0.2.1", 53), peer));
    EXPECT_EQ(peer.host, "192.0.2.1");
    ASSERT_TRUE(parse_inet(inet("2001:db8::1", 443), peer));
    EXPECT_EQ(peer.host, "2001:db8::1");
}

TEST(SocketAddress, WhatIsCutShortIsNone) {
    InetPeer peer;
    SocketAddress address = inet("192.0.2.1", 53);
    address.size -= 1;
    EXPECT_FALSE(parse_inet(address, peer));
    address.size = 1;
    EXPECT_EQ(address.family(), AF_UNSPEC);
    SocketAddress six = inet("2001:db8::1", 1);
    six.size = 24;  // RFC 2133: without a scope
    EXPECT_TRUE(parse_inet(six, peer));
    six.size = 23;
    EXPECT_FALSE(parse_inet(six, peer));
}

TEST(SocketAddress, UnixNames) {
    EXPECT_EQ(unix_name("/run/x").unix_path(), "/run/x");
    EXPECT_FALSE(unix_name("/run/x").is_abstract());
    EXPECT_EQ(unix_name(std::string("/run/x\0y", 8)).unix_path(), "/run/x") << "the kernel stops at the NUL";
    EXPECT_EQ(unix_name(std::string(108, 'x')).unix_path().size(), 108u) << "no NUL has to follow";
    EXPECT_TRUE(unix_name(std::string("\0x", 2)).is_abstract());
    EXPECT_EQ(unix_name(std::string("\0x", 2)).unix_path(), "");
    EXPECT_FALSE(unix_name("").is_abstract()) << "unnamed";
}

TEST(SocketAddress, OfAPath) {
    SocketAddress address;
    ASSERT_TRUE(unix_address("/proc/self/fd/7", address));
    EXPECT_EQ(address.unix_path(), "/proc/self/fd/7");
    EXPECT_FALSE(unix_address(std::string(108, 'x'), address));
    EXPECT_TRUE(unix_address(std::string(107, 'x'), address));
}

}  // namespace
}  // namespace sandpipe::launcher
