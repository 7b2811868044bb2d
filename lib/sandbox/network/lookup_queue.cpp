#include "sandbox/network/lookup_queue.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "sys/signals_blocked.hpp"

namespace sandpipe {

using Lock = std::unique_lock<std::mutex>;

Lookup::Lookup(std::string name) : name_(std::move(name)), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

const std::vector<IpAddress>& Lookup::addresses() const {
    if (error_) std::rethrow_exception(error_);
    return addresses_;
}

void Lookup::succeed(std::vector<IpAddress> addresses) {
    addresses_ = std::move(addresses);
    tell();
}

void Lookup::fail(std::exception_ptr error) {
    error_ = std::move(error);
    tell();
}

void Lookup::tell() noexcept {
    done_.store(true, std::memory_order_release);
    (void)::eventfd_write(event_.get(), 1);  // cannot fail: the counter is 0
}

/// What the threads share with the queue, and keep.
struct LookupQueue::State {
    State(Function function, std::size_t most) : look_up(std::move(function)), at_once(most) {}

    const Function look_up;
    const std::size_t at_once;

    std::mutex mutex;
    std::deque<std::shared_ptr<Lookup>> waiting;
    std::size_t threads = 0;

    std::shared_ptr<Lookup> next();
    void run() noexcept;
};

/// None: the thread has nothing more to do, and is not counted any longer.
std::shared_ptr<Lookup> LookupQueue::State::next() {
    const Lock lock(mutex);
    if (waiting.empty()) {
        --threads;
        return {};
    }
    std::shared_ptr<Lookup> first = std::move(waiting.front());
    waiting.pop_front();
    return first;
}

void LookupQueue::State::run() noexcept {
    while (const std::shared_ptr<Lookup> lookup = next()) {
        try {
            lookup->succeed(look_up(lookup->name()));
        } catch (...) {
            lookup->fail(std::current_exception());
        }
    }
}

LookupQueue::LookupQueue(Function look_up, std::size_t at_once)
    : state_(std::make_shared<State>(std::move(look_up), at_once)) {}

LookupQueue::~LookupQueue() {
    const Lock lock(state_->mutex);
    state_->waiting.clear();
}

void LookupQueue::add(std::shared_ptr<Lookup> lookup) {
    const Lock lock(state_->mutex);
    state_->waiting.push_back(lookup);
    if (state_->threads == state_->at_once) return;
    const sys::SignalsBlocked blocked;
    try {
        std::thread([state = state_] { state->run(); }).detach();
        ++state_->threads;
    } catch (const std::system_error&) {
        // No more threads than there are; without any there would be no answer either.
        if (state_->threads > 0) return;
        state_->waiting.pop_back();
        lookup->fail(std::current_exception());
    }
}

void LookupQueue::drop(const std::shared_ptr<Lookup>& lookup) {
    const Lock lock(state_->mutex);
    const auto found = std::find(state_->waiting.begin(), state_->waiting.end(), lookup);
    if (found != state_->waiting.end()) state_->waiting.erase(found);
}

}  // namespace sandpipe
