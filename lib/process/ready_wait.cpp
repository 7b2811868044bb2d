#include "ready_wait.hpp"

#include <asio/bind_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "process/adopt.hpp"
#include "process/timed_wait.hpp"

namespace sandpipe::detail {
namespace {

class ReadyWait final : public TimedWait<bool> {
  public:
    ReadyWait(const asio::any_io_executor& executor, unique_fd fd, std::function<bool(int)> reached)
        : TimedWait(executor), reached_(std::move(reached)), fd_(strand()) {
        adopt_or_throw(fd_, fd);
    }

  private:
    void begin() override {
        auto self = std::static_pointer_cast<ReadyWait>(shared_from_this());
        fd_.async_wait(asio::posix::descriptor_base::wait_read,
                       asio::bind_executor(strand(), [self](const std::error_code& error) {
                           if (!error) self->look();
                       }));
    }

    void look() {
        if (!fd_.is_open()) return;  // nobody waits any more
        if (reached_(fd_.native_handle()))
            finish(true);
        else
            begin();
    }

    void end(bool) override {
        std::error_code ignored;  // closing shows no error that matters here
        fd_.close(ignored);
    }

    const std::function<bool(int)> reached_;
    asio::posix::stream_descriptor fd_;
};

/// No coroutine: its frame would keep the wait, which keeps the frame.
awaitable<std::optional<bool>> begin(const asio::any_io_executor& executor, unique_fd fd,
                                     std::function<bool(int)> reached, std::chrono::nanoseconds limit) {
    return TimedWait<bool>::run(std::make_shared<ReadyWait>(executor, std::move(fd), std::move(reached)), limit);
}

}  // namespace

awaitable<bool> wait_until_ready(asio::any_io_executor executor, unique_fd fd, std::function<bool(int)> reached,
                                 std::chrono::nanoseconds limit) {
    const std::optional<bool> in_time = co_await begin(executor, std::move(fd), std::move(reached), limit);
    co_return in_time.has_value();
}

}  // namespace sandpipe::detail
