#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

namespace sandpipe {

/// Every asynchronous operation of sandpipe returns one of these. It completes on the awaiting coroutine's
/// executor, never inline.
template <typename T>
using awaitable = asio::awaitable<T>;

}  // namespace sandpipe
