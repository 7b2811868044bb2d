#pragma once

#include <sandpipe/awaitable.hpp>

#include <memory>
#include <string>
#include <vector>

#include "sandbox/network/ip_address.hpp"

namespace sandpipe {

/// Where a proxy gets a name's addresses from. Asked once for each connection, by any number of coroutines at once.
class Resolver {
  public:
    virtual ~Resolver() = default;
    /// On the coroutine's executor. Throws std::system_error where there is no address; a cancellation ends it at once.
    virtual awaitable<std::vector<IpAddress>> resolve(std::string name) = 0;
};

/// getaddrinfo(3), on the thread that Asio has for it.
[[nodiscard]] std::shared_ptr<Resolver> system_resolver();

/// The addresses of this machine's own interfaces, now (getifaddrs(3)). Throws std::system_error.
[[nodiscard]] std::vector<IpAddress> own_addresses();

}  // namespace sandpipe
