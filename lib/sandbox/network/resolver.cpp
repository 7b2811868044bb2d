#include "sandbox/network/resolver.hpp"

#include <netdb.h>

#include <asio/bind_executor.hpp>
#include <asio/error.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "process/timed_wait.hpp"
#include "sandbox/network/endpoints.hpp"

namespace sandpipe {
namespace {

using Addresses = std::vector<IpAddress>;

using LookupDone = detail::TimedWait<Addresses>;

/// One coroutine's wait for a lookup.
class LookupWait final : public LookupDone {
  public:
    LookupWait(const asio::any_io_executor& executor, std::shared_ptr<LookupQueue> queue, std::string name)
        : TimedWait(executor),
          queue_(std::move(queue)),
          lookup_(std::make_shared<Lookup>(std::move(name))),
          event_(strand(), lookup_->event()) {
        queue_->add(lookup_);
    }
    ~LookupWait() override { let_go(); }

  private:
    void begin() override {
        auto self = std::static_pointer_cast<LookupWait>(shared_from_this());
        event_.async_wait(asio::posix::descriptor_base::wait_read,
                          asio::bind_executor(strand(), [self](const std::error_code& error) {
                              if (!error) self->look();
                          }));
    }

    void look() {
        if (!event_.is_open()) return;  // nobody waits any more
        if (!lookup_->done()) return begin();
        try {
            finish(lookup_->addresses());
        } catch (...) {
            fail(std::current_exception());
        }
    }

    void end(bool) override { let_go(); }

    /// The descriptor stays the lookup's, which a thread may still be at.
    void let_go() {
        queue_->drop(lookup_);
        if (event_.is_open()) (void)event_.release();
    }

    const std::shared_ptr<LookupQueue> queue_;
    const std::shared_ptr<Lookup> lookup_;
    asio::posix::stream_descriptor event_;
};

class QueueResolver final : public Resolver {
  public:
    explicit QueueResolver(LookupQueue::Function look_up)
        : queue_(std::make_shared<LookupQueue>(std::move(look_up))) {}

    awaitable<Addresses> resolve(std::string name) override {
        const asio::any_io_executor executor = co_await asio::this_coro::executor;
        std::optional<Addresses> found = co_await wait_for(executor, std::move(name));
        co_return std::move(*found);
    }

  private:
    /// No coroutine: its frame would keep the wait, which keeps the frame.
    awaitable<std::optional<Addresses>> wait_for(const asio::any_io_executor& executor, std::string name) const {
        return LookupDone::run(std::make_shared<LookupWait>(executor, queue_, std::move(name)),
                               std::chrono::nanoseconds::max());
    }

    const std::shared_ptr<LookupQueue> queue_;
};

struct FreeAnswer {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

std::error_code error_of(int code) {
    switch (code) {
        case EAI_AGAIN:
            return asio::error::host_not_found_try_again;
        case EAI_FAIL:
            return asio::error::no_recovery;
        case EAI_MEMORY:
            return asio::error::no_memory;
        case EAI_SYSTEM:
            return {errno, std::generic_category()};
        default:
            return asio::error::host_not_found;
    }
}

/// getaddrinfo(3), which waits.
Addresses system_addresses(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int failed = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
    const std::unique_ptr<addrinfo, FreeAnswer> owner(list);
    if (failed != 0) throw std::system_error(error_of(failed));
    Addresses addresses;
    for (const addrinfo* entry = list; entry; entry = entry->ai_next) {
        const auto address = address_of(entry->ai_addr);
        if (address && std::find(addresses.begin(), addresses.end(), *address) == addresses.end())
            addresses.push_back(*address);
    }
    return addresses;
}

}  // namespace

std::shared_ptr<Resolver> resolver_by(LookupQueue::Function look_up) {
    return std::make_shared<QueueResolver>(std::move(look_up));
}

std::shared_ptr<Resolver> system_resolver() { return resolver_by(system_addresses); }

}  // namespace sandpipe
