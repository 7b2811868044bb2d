#include "sandbox/aside.hpp"

#include <sandpipe/error.hpp>

#include <asio/bind_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>

#include <atomic>
#include <csignal>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "process/completion.hpp"
#include "sys/descriptors.hpp"

namespace sandpipe {
namespace {

using detail::Completion;
using detail::OnCancel;

/// What the thread knows: nothing of the event loop, which may be gone before it.
struct Task {
    std::function<void()> work;
    std::exception_ptr error;
    std::atomic<bool> written{false};  // the others are, and so is what `work` wrote
    unique_fd done;                    // its closing tells so to the loop

    void run() noexcept {
        try {
            work();
        } catch (...) {
            error = std::current_exception();
        }
        work = nullptr;
        written.store(true, std::memory_order_release);
    }
};

/// A new thread has its maker's signal mask, and the host's handlers expect the host's own threads.
class NoSignals {
  public:
    NoSignals() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;
    ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

/// False: there is no thread to be had.
bool start_thread(const std::shared_ptr<Task>& task) {
    const NoSignals blocked;
    try {
        std::thread([task] {
            task->run();
            const unique_fd done = std::move(task->done);
        }).detach();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

class Wait : public std::enable_shared_from_this<Wait> {
  public:
    Wait(const asio::any_io_executor& executor, std::shared_ptr<Task> task, unique_fd ended)
        : strand_(asio::make_strand(executor)),
          task_(std::move(task)),
          ended_(strand_, ended.release()),
          timer_(strand_) {}

    void begin(Completion<bool> done, std::chrono::nanoseconds limit) {
        auto waiting = std::make_shared<Completion<bool>>(std::move(done));
        asio::post(strand_, [self = shared_from_this(), waiting, limit] {
            self->done_ = std::move(*waiting);
            self->wait(limit);
        });
    }

    void cancel() {
        asio::post(strand_, [self = shared_from_this()] {
            if (self->done_) self->done_.abort();
            self->stop();
        });
    }

  private:
    void wait(std::chrono::nanoseconds limit) {
        timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit));
        timer_.async_wait(asio::bind_executor(strand_, [self = shared_from_this()](const std::error_code& error) {
            if (!error) self->finish(false);
        }));
        ended_.async_wait(asio::posix::descriptor_base::wait_read,
                          asio::bind_executor(strand_, [self = shared_from_this()](const std::error_code& error) {
                              if (!error) self->finish(true);
                          }));
    }

    void finish(bool in_time) {
        stop();
        if (!done_) return;
        if (in_time) in_time = task_->written.load(std::memory_order_acquire);
        if (in_time && task_->error)
            done_.fail(task_->error);
        else
            done_.succeed(in_time);
    }

    void stop() {
        timer_.cancel();
        std::error_code ignored;  // closed already
        ended_.close(ignored);
    }

    asio::strand<asio::any_io_executor> strand_;
    std::shared_ptr<Task> task_;
    asio::posix::stream_descriptor ended_;
    asio::steady_timer timer_;
    Completion<bool> done_;
};

/// Whether the task's thread ended within the limit. No coroutine: its frame would keep what keeps it.
awaitable<bool> wait_for_end(const asio::any_io_executor& executor, const std::shared_ptr<Task>& task, unique_fd ended,
                             std::chrono::nanoseconds limit) {
    auto wait = std::make_shared<Wait>(executor, task, std::move(ended));
    std::function<void(Completion<bool>)> begin = [wait, limit](Completion<bool> done) {
        wait->begin(std::move(done), limit);
    };
    OnCancel<bool> on_cancel;
    on_cancel.cancel = [weak = std::weak_ptr(wait)] {
        if (const auto waiting = weak.lock()) waiting->cancel();
    };
    return detail::await_completion<bool>(std::move(begin), std::move(on_cancel));
}

}  // namespace

awaitable<void> run_aside(asio::any_io_executor executor, std::function<void()> work, std::chrono::nanoseconds limit,
                          std::string late) {
    auto task = std::make_shared<Task>();
    task->work = std::move(work);
    sys::SocketPair ends;
    bool started = sys::make_socket_pair(ends) == 0;
    if (started) {
        task->done = std::move(ends.second);
        started = start_thread(task);
    }
    if (!started) {
        task->work();
        co_return;
    }
    const bool in_time = co_await wait_for_end(executor, task, std::move(ends.first), limit);
    if (!in_time) throw Error(Errc::sandbox_failed, late);
}

}  // namespace sandpipe
