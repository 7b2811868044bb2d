#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/unique_fd.hpp>

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <functional>

namespace sandpipe::detail {

/// Waits until `fd` is readable and `reached` says that what it stands for has come to pass: Asio's reactor tells of
/// readiness spuriously, for one when it has just used the place of another descriptor again. False if it takes
/// longer than `limit`. Cancellation throws operation_aborted, and an epoll that can take no more a Shortage. `reached`
/// gets the descriptor, and owns what it uses besides.
awaitable<bool> wait_until_ready(asio::any_io_executor executor, unique_fd fd, std::function<bool(int)> reached,
                                 std::chrono::nanoseconds limit);

}  // namespace sandpipe::detail
