#pragma once

#include <sandpipe/awaitable.hpp>

#include <asio/ip/tcp.hpp>

namespace sandpipe {

/// Carries bytes both ways until each side has ended: a side that stops sending is told to the other, which may go on.
/// A reader that is slow makes its writer wait. Nothing is held in memory while nothing is under way. Throws
/// std::system_error when a side breaks off, after making the other one do the same.
awaitable<void> relay_both_ways(asio::ip::tcp::socket& left, asio::ip::tcp::socket& right);

}  // namespace sandpipe
