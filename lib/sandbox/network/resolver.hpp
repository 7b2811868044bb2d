#pragma once

#include <sandpipe/awaitable.hpp>

#include <memory>
#include <string>
#include <vector>

#include "sandbox/network/ip_address.hpp"
#include "sandbox/network/lookup_queue.hpp"

namespace sandpipe {

/// Where a proxy gets a name's addresses from. Asked once for each connection, by any number of coroutines at once.
class Resolver {
  public:
    virtual ~Resolver() = default;
    /// On the coroutine's executor. Throws std::system_error where there is no address; a cancellation ends it at once.
    virtual awaitable<std::vector<IpAddress>> resolve(std::string name) = 0;
};

/// By a function that waits, on a few threads that no other resolver has (LookupQueue): names that nobody answers are
/// waited for by those who ask this one.
[[nodiscard]] std::shared_ptr<Resolver> resolver_by(LookupQueue::Function look_up);

/// By getaddrinfo(3).
[[nodiscard]] std::shared_ptr<Resolver> system_resolver();

}  // namespace sandpipe
