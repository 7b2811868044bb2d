#include "launcher/loop/event_loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "sys/descriptors.hpp"

namespace sandpipe::launcher {

int EventLoop::open() {
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    return epoll_ ? sys::lift(epoll_) : -errno;
}

int EventLoop::add(int fd, Callback callback) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) < 0) return -errno;
    callbacks_[fd] = std::move(callback);
    return 0;
}

int EventLoop::when_writable(int fd, bool wanted) {
    epoll_event event{};
    event.events = EPOLLIN | (wanted ? EPOLLOUT : 0U);
    event.data.fd = fd;
    return ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) < 0 ? -errno : 0;
}

void EventLoop::add_direct(int fd, Callback callback) {
    direct_ = fd;
    on_direct_ = std::move(callback);
}

void EventLoop::remove(int fd) {
    if (fd == direct_) direct_ = -1;
    if (callbacks_.count(fd) == 0) return;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    callbacks_.erase(fd);
}

/// How many of the epoll set's events there are to be taken without waiting: 0 or 1, or -errno.
int EventLoop::wait_for_both(int timeout_ms) {
    pollfd waits[]{{direct_, POLLIN, 0}, {epoll_.get(), POLLIN, 0}};
    if (::poll(waits, 2, timeout_ms) < 0) return errno == EINTR ? 0 : -errno;
    if (waits[0].revents & POLLIN) {
        const Callback callback = on_direct_;
        callback();
    } else if (waits[0].revents != 0) {
        direct_ = -1;
    }
    return waits[1].revents != 0 ? 1 : 0;
}

int EventLoop::run_once(int timeout_ms) {
    if (direct_ >= 0) {
        if (const int ready = wait_for_both(timeout_ms); ready <= 0) return ready;
        timeout_ms = 0;
    }
    std::array<epoll_event, 256> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; ++i) {
        const auto found = callbacks_.find(events[static_cast<std::size_t>(i)].data.fd);
        if (found == callbacks_.end()) continue;
        // A copy, because the callback may remove itself.
        const Callback callback = found->second;
        callback();
    }
    return 0;
}

int open_child_signals(unique_fd& signals) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    if (::sigprocmask(SIG_BLOCK, &mask, nullptr) < 0) return -errno;
    signals.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    return signals ? sys::lift(signals) : -errno;
}

void drain_child_signals(int signals) noexcept {
    signalfd_siginfo info;
    // signal(7): of a standard signal no second one waits. Nothing to read is well too.
    [[maybe_unused]] const ssize_t got = ::read(signals, &info, sizeof info);
}

}  // namespace sandpipe::launcher
