#pragma once

#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>

#include <cstdint>

#include "sandbox/network/ip_address.hpp"

namespace sandpipe {

// Between Asio's addresses and ours.

[[nodiscard]] inline IpAddress address_of(const asio::ip::address& address) {
    return address.is_v4() ? IpAddress(address.to_v4().to_bytes()) : IpAddress(address.to_v6().to_bytes());
}

[[nodiscard]] inline asio::ip::tcp::endpoint endpoint_of(const IpAddress& address, std::uint16_t port) {
    if (address.is_v4()) return {asio::ip::address_v4(address.v4()), port};
    return {asio::ip::address_v6(address.v6()), port};
}

}  // namespace sandpipe
