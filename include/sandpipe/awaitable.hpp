#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/version.hpp>

// Asio is headers alone, and compiled into the library: a program with another version of it would have two meanings of
// one name. Such a program does not link, because this symbol has the version in its name.
#define SANDPIPE_JOINED(a, b) a##b
#define SANDPIPE_BUILT_WITH_ASIO(version) SANDPIPE_JOINED(sandpipe_built_with_asio_, version)
extern "C" const char SANDPIPE_BUILT_WITH_ASIO(ASIO_VERSION);

namespace sandpipe {

/// Every asynchronous operation of sandpipe returns one of these. It completes on the awaiting coroutine's
/// executor, never inline.
template <typename T>
using awaitable = asio::awaitable<T>;

namespace detail {

[[gnu::used]] inline const char* const kBuiltWithAsio = &SANDPIPE_BUILT_WITH_ASIO(ASIO_VERSION);

}  // namespace detail
}  // namespace sandpipe
