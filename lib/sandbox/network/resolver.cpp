#include "sandbox/network/resolver.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <asio/ip/tcp.hpp>
#include <asio/this_coro.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <functional>
#include <system_error>
#include <utility>

#include "process/completion.hpp"
#include "sandbox/network/endpoints.hpp"

namespace sandpipe {
namespace {

using Addresses = std::vector<IpAddress>;
using asio::ip::tcp;

/// A getaddrinfo that has begun cannot be interrupted, so who waits is let go and the answer is dropped.
struct Lookup {
    explicit Lookup(const asio::any_io_executor& executor) : resolver(executor) {}
    tcp::resolver resolver;
    detail::Completion<Addresses> done;
};

Addresses addresses_of(const tcp::resolver::results_type& results) {
    Addresses addresses;
    for (const auto& entry : results) {
        const IpAddress address = address_of(entry.endpoint().address());
        if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
    }
    return addresses;
}

class SystemResolver final : public Resolver {
  public:
    awaitable<Addresses> resolve(std::string name) override {
        const asio::any_io_executor executor = co_await asio::this_coro::executor;
        auto lookup = std::make_shared<Lookup>(executor);
        std::function<void(detail::Completion<Addresses>)> begin = [lookup,
                                                                    name](detail::Completion<Addresses> done) {
            lookup->done = std::move(done);
            lookup->resolver.async_resolve(
                name, "", [lookup](const std::error_code& error, const tcp::resolver::results_type& results) {
                    if (!lookup->done) return;
                    if (error) return lookup->done.fail(std::make_exception_ptr(std::system_error(error)));
                    lookup->done.succeed(addresses_of(results));
                });
        };
        detail::OnCancel<Addresses> on_cancel;
        on_cancel.cancel = [weak = std::weak_ptr(lookup)] {
            const auto waiting = weak.lock();
            if (!waiting || !waiting->done) return;
            // What has not begun never does: a command could queue names faster than they are answered.
            waiting->resolver.cancel();
            waiting->done.abort();
        };
        co_return co_await detail::await_completion<Addresses>(std::move(begin), std::move(on_cancel));
    }
};

struct FreeInterfaces {
    void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

template <typename Bytes>
IpAddress address_from(const void* bytes) {
    Bytes copy{};
    std::memcpy(copy.data(), bytes, copy.size());
    return copy;
}

}  // namespace

std::shared_ptr<Resolver> system_resolver() { return std::make_shared<SystemResolver>(); }

Addresses own_addresses() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) < 0) throw std::system_error(errno, std::generic_category(), "getifaddrs");
    const std::unique_ptr<ifaddrs, FreeInterfaces> owner(list);
    Addresses addresses;
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
        if (!entry->ifa_addr) continue;
        if (entry->ifa_addr->sa_family == AF_INET)
            addresses.push_back(address_from<IpAddress::V4>(
                &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr));
        if (entry->ifa_addr->sa_family == AF_INET6)
            addresses.push_back(address_from<IpAddress::V6>(
                &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr));
    }
    return addresses;
}

}  // namespace sandpipe
