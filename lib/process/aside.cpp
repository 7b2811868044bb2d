#include "aside.hpp"

#include <sandpipe/error.hpp>

#include <system_error>
#include <thread>
#include <utility>

#include "process/ready_wait.hpp"
#include "sys/descriptors.hpp"
#include "sys/signals_blocked.hpp"

namespace sandpipe::detail {
std::shared_ptr<AsideTask> AsideTask::start(std::function<void()> work, unique_fd& ended) {
    auto task = std::make_shared<AsideTask>();
    task->work_ = std::move(work);
    sys::SocketPair ends;
    if (sys::make_socket_pair(ends) == 0) {
        task->done_ = std::move(ends.second);
        if (start_thread(task)) {
            ended = std::move(ends.first);
            return task;
        }
    }
    task->run();
    return task;
}

void AsideTask::run() noexcept {
    try {
        work_();
    } catch (...) {
        error_ = std::current_exception();
    }
    work_ = nullptr;
    written_.store(true, std::memory_order_release);
}

/// False: there is no thread to be had.
bool AsideTask::start_thread(const std::shared_ptr<AsideTask>& task) {
    const sys::SignalsBlocked blocked;
    try {
        std::thread([task] {
            task->run();
            const unique_fd done = std::move(task->done_);
        }).detach();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

awaitable<void> run_aside(asio::any_io_executor executor, std::function<void()> work, std::chrono::nanoseconds limit,
                          std::string late) {
    unique_fd ended;
    const std::shared_ptr<AsideTask> task = AsideTask::start(std::move(work), ended);
    if (ended) {
        std::function<bool(int)> done = [task](int) { return task->done(); };
        const bool in_time = co_await wait_until_ready(std::move(executor), std::move(ended), std::move(done), limit);
        if (!in_time) throw Error(Errc::sandbox_failed, late);
    }
    task->rethrow();
}

}  // namespace sandpipe::detail
