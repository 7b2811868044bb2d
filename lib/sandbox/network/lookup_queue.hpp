#pragma once

#include <sandpipe/unique_fd.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/network/ip_address.hpp"

namespace sandpipe {

/// One name that is looked up.
class Lookup {
  public:
    /// Throws std::system_error where there is no descriptor to be had.
    explicit Lookup(std::string name);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// Readable once it is done. It stays this object's.
    [[nodiscard]] int event() const noexcept { return event_.get(); }
    [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
    /// What was found; throws what the function threw. Once it is done.
    [[nodiscard]] const std::vector<IpAddress>& addresses() const;

    void succeed(std::vector<IpAddress> addresses);
    void fail(std::exception_ptr error);

  private:
    void tell() noexcept;

    const std::string name_;
    const unique_fd event_;
    std::vector<IpAddress> addresses_;
    std::exception_ptr error_;
    std::atomic<bool> done_{false};  // the others are, once it is set
};

/// Looks names up on threads of its own, a few at a time, because getaddrinfo(3) waits and cannot be interrupted: so
/// who queues names that nobody answers waits for them alone. Threads that are in a lookup outlive this object.
/// Thread-safe.
class LookupQueue {
  public:
    /// Blocks; throws std::system_error. On several threads at once.
    using Function = std::function<std::vector<IpAddress>(const std::string& name)>;

    explicit LookupQueue(Function look_up, std::size_t at_once = 4);
    LookupQueue(const LookupQueue&) = delete;
    LookupQueue& operator=(const LookupQueue&) = delete;
    /// What has not begun never does.
    ~LookupQueue();

    void add(std::shared_ptr<Lookup> lookup);
    /// Nobody waits for it any more. If it has not begun it never does.
    void drop(const std::shared_ptr<Lookup>& lookup);

  private:
    struct State;

    const std::shared_ptr<State> state_;
};

}  // namespace sandpipe
