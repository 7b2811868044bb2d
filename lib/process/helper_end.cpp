#include "helper_end.hpp"

#include <sys/wait.h>

#include <asio/this_coro.hpp>

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "process/ready_wait.hpp"
#include "process/shortage.hpp"
#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::detail {
namespace {

constexpr std::chrono::seconds kMostWait{2};

/// By pidfd, so that no other child of the host is ever taken. True: it is a child of ours that still runs.
bool runs_as_our_child(int pidfd) noexcept {
    siginfo_t info{};
    const long error = sys::raw_syscall(SYS_waitid, P_PIDFD, pidfd, sys::word(&info), WEXITED | WNOHANG | __WALL);
    return error == 0 && info.si_pid == 0;
}

struct Earlier {
    std::mutex mutex;
    std::vector<unique_fd> pidfds;
};

/// Never destroyed: a Runtime with static storage duration may go after everything that was made later.
Earlier& earlier() {
    static Earlier& helpers = *new Earlier;
    return helpers;
}

}  // namespace

EndingHelpers::~EndingHelpers() {
    reap_earlier();
    for (unique_fd& pidfd : pidfds_) {
        if (!runs_as_our_child(pidfd.get())) continue;
        const std::lock_guard<std::mutex> lock(earlier().mutex);
        earlier().pidfds.push_back(std::move(pidfd));
    }
}

void EndingHelpers::reap_earlier() noexcept {
    const std::lock_guard<std::mutex> lock(earlier().mutex);
    std::erase_if(earlier().pidfds, [](const unique_fd& pidfd) { return !runs_as_our_child(pidfd.get()); });
}

awaitable<void> EndingHelpers::ended() {
    for (const unique_fd& pidfd : pidfds_) {
        unique_fd copy;
        if (!runs_as_our_child(pidfd.get()) || sys::duplicate(pidfd.get(), copy) < 0) continue;
        auto executor = co_await asio::this_coro::executor;
        std::function<bool(int)> over = [](int helper) { return !runs_as_our_child(helper); };
        try {
            co_await wait_until_ready(std::move(executor), std::move(copy), std::move(over), kMostWait);
        } catch (const Shortage&) {
            continue;  // later, as one that was given up: the destructor looks
        }
    }
}

}  // namespace sandpipe::detail
