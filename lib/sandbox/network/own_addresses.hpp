#pragma once

#include <vector>

#include "sandbox/network/ip_address.hpp"

namespace sandpipe {

/// The addresses of this machine's own interfaces, now (getifaddrs(3)). Throws std::system_error.
[[nodiscard]] std::vector<IpAddress> own_addresses();

/// Whether the kernel would deliver to this machine itself what is sent to the address, now: its routes say so for more
/// than its interfaces' addresses (`ip route add local`, as clouds set it for those that they forward to a machine).
/// Throws std::system_error where it cannot be asked.
[[nodiscard]] bool leads_here(const IpAddress& address);

/// Those that are this machine's in one way or the other. Throws std::system_error.
[[nodiscard]] std::vector<IpAddress> own_among(const std::vector<IpAddress>& addresses);

}  // namespace sandpipe
