#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sandpipe::launcher {

/// An address as a caller gave it (connect(2)), copied once.
struct SocketAddress {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&bytes); }
    /// AF_UNSPEC where it is too short to have one.
    [[nodiscard]] int family() const noexcept;
    /// unix(7): the path of a pathname socket; "" for unnamed and abstract ones.
    [[nodiscard]] std::string_view unix_path() const noexcept;
    [[nodiscard]] bool is_abstract() const noexcept;
};

/// What an inet address means.
struct InetPeer {
    std::string host;  ///< in numbers
    std::uint16_t port = 0;
    bool within = false;  ///< loopback, or "this host": nothing leaves the network namespace for it
};
/// False for an address that is no whole AF_INET or AF_INET6 one.
[[nodiscard]] bool parse_inet(const SocketAddress& address, InetPeer& peer);

/// The address of the socket at `path`; false if it is too long.
[[nodiscard]] bool unix_address(std::string_view path, SocketAddress& address) noexcept;

}  // namespace sandpipe::launcher
