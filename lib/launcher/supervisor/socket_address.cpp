#include "launcher/supervisor/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstddef>
#include <cstring>

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kPathOffset = offsetof(sockaddr_un, sun_path);

template <typename Address>
bool copy_as(const SocketAddress& from, std::size_t least, Address& to) {
    if (from.size < least) return false;
    std::memcpy(&to, &from.bytes, sizeof to);  // the rest of `bytes` is zero
    return true;
}

std::string in_numbers(int family, const void* address) {
    char text[INET6_ADDRSTRLEN];
    return ::inet_ntop(family, address, text, sizeof text) ? text : std::string();
}

bool is_within(const in_addr& address) {
    const std::uint32_t value = ntohl(address.s_addr);
    return value >> 24 == 127 || value == INADDR_ANY;
}

bool is_within(const in6_addr& address) {
    if (IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address)) return true;
    if (!IN6_IS_ADDR_V4MAPPED(&address)) return false;
    in_addr mapped{};
    std::memcpy(&mapped, address.s6_addr + 12, sizeof mapped);
    return is_within(mapped);
}

}  // namespace

int SocketAddress::family() const noexcept { return size < sizeof(sa_family_t) ? AF_UNSPEC : bytes.ss_family; }

std::string_view SocketAddress::unix_path() const noexcept {
    if (family() != AF_UNIX || size <= kPathOffset) return {};
    const char* path = reinterpret_cast<const char*>(&bytes) + kPathOffset;
    return {path, ::strnlen(path, size - kPathOffset)};
}

bool SocketAddress::is_abstract() const noexcept {
    return family() == AF_UNIX && size > kPathOffset && unix_path().empty();
}

bool parse_inet(const SocketAddress& address, InetPeer& peer) {
    sockaddr_in four{};
    sockaddr_in6 six{};
    constexpr std::size_t kLeastSix = offsetof(sockaddr_in6, sin6_scope_id);  // RFC 2133 had no scope
    if (address.family() == AF_INET && copy_as(address, sizeof four, four)) {
        peer = {in_numbers(AF_INET, &four.sin_addr), ntohs(four.sin_port), is_within(four.sin_addr)};
        return true;
    }
    if (address.family() == AF_INET6 && copy_as(address, kLeastSix, six)) {
        peer = {in_numbers(AF_INET6, &six.sin6_addr), ntohs(six.sin6_port), is_within(six.sin6_addr)};
        return true;
    }
    return false;
}

bool unix_address(std::string_view path, SocketAddress& address) noexcept {
    sockaddr_un made{};
    if (path.size() >= sizeof made.sun_path) return false;
    made.sun_family = AF_UNIX;
    std::memcpy(made.sun_path, path.data(), path.size());
    std::memcpy(&address.bytes, &made, sizeof made);
    address.size = static_cast<socklen_t>(kPathOffset + path.size() + 1);
    return true;
}

}  // namespace sandpipe::launcher
