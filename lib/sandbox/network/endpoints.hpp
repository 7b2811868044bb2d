#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>

#include <bit>
#include <cstdint>
#include <optional>

#include "sandbox/network/ip_address.hpp"

namespace sandpipe {

// Between the addresses of sockets and ours.

/// None for other families, and for no address at all.
[[nodiscard]] inline std::optional<IpAddress> address_of(const sockaddr* address) {
    if (address && address->sa_family == AF_INET)
        return IpAddress(std::bit_cast<IpAddress::V4>(reinterpret_cast<const sockaddr_in*>(address)->sin_addr));
    if (address && address->sa_family == AF_INET6)
        return IpAddress(std::bit_cast<IpAddress::V6>(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr));
    return {};
}

[[nodiscard]] inline asio::ip::tcp::endpoint endpoint_of(const IpAddress& address, std::uint16_t port) {
    if (address.is_v4()) return {asio::ip::address_v4(address.v4()), port};
    return {asio::ip::address_v6(address.v6()), port};
}

}  // namespace sandpipe
