#include "helper_end.hpp"

#include <sys/wait.h>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::detail {
namespace {

constexpr std::chrono::seconds kMostWait{2};

/// By pidfd, so that no other child of the host is ever taken. True: it is a child of ours that still runs.
bool runs_as_our_child(const unique_fd& pidfd) noexcept {
    siginfo_t info{};
    const long error = sys::raw_syscall(SYS_waitid, P_PIDFD, pidfd.get(), sys::word(&info), WEXITED | WNOHANG | __WALL);
    return error == 0 && info.si_pid == 0;
}

struct Earlier {
    std::mutex mutex;
    std::vector<unique_fd> pidfds;
};

Earlier& earlier() {
    static Earlier helpers;
    return helpers;
}

}  // namespace

EndingHelpers::~EndingHelpers() {
    reap_earlier();
    for (unique_fd& pidfd : pidfds_) {
        if (!runs_as_our_child(pidfd)) continue;
        const std::lock_guard<std::mutex> lock(earlier().mutex);
        earlier().pidfds.push_back(std::move(pidfd));
    }
}

void EndingHelpers::reap_earlier() noexcept {
    const std::lock_guard<std::mutex> lock(earlier().mutex);
    std::erase_if(earlier().pidfds, [](const unique_fd& pidfd) { return !runs_as_our_child(pidfd); });
}

awaitable<void> EndingHelpers::ended() {
    for (const unique_fd& pidfd : pidfds_) {
        unique_fd copy;
        if (!runs_as_our_child(pidfd) || sys::duplicate(pidfd.get(), copy) < 0) continue;
        const auto executor = co_await asio::this_coro::executor;
        const auto end = std::make_shared<asio::posix::stream_descriptor>(executor, copy.release());
        asio::steady_timer most(executor, kMostWait);
        most.async_wait([end](const std::error_code& error) {
            if (!error) end->cancel();
        });
        std::error_code ignored;  // as long as it took, or it was given up: the destructor looks
        auto token = asio::redirect_error(asio::use_awaitable, ignored);
        co_await end->async_wait(asio::posix::descriptor_base::wait_read, token);
    }
}

}  // namespace sandpipe::detail
