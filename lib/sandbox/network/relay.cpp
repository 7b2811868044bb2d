#include "sandbox/network/relay.hpp"

#include <asio/buffer.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/socket_base.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <cstddef>
#include <memory>
#include <system_error>

namespace sandpipe {
namespace {

using Socket = asio::ip::tcp::socket;

constexpr std::size_t kBufferBytes = 256 * 1024;

/// What a peer would take for a proper end of the stream must be seen as none.
void break_off(Socket& socket) {
    std::error_code ignored;  // it may be closed already
    socket.set_option(asio::socket_base::linger(true, 0), ignored);
    socket.close(ignored);
}

/// One direction. A reader that went away ends it, and leaves the other direction to find that out for itself: there
/// may still be something to read from there.
awaitable<void> carry(Socket& from, Socket& to) {
    for (;;) {
        std::error_code error;
        co_await from.async_wait(asio::socket_base::wait_read, asio::use_awaitable);
        const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
        for (;;) {
            const std::size_t size = from.read_some(asio::buffer(buffer.get(), kBufferBytes), error);
            if (error == asio::error::would_block) break;
            if (error == asio::error::eof) {
                to.shutdown(asio::socket_base::shutdown_send, error);
                co_return;
            }
            if (error) {
                break_off(to);
                throw std::system_error(error);
            }
            const auto bytes = asio::buffer(buffer.get(), size);
            co_await asio::async_write(to, bytes, asio::redirect_error(asio::use_awaitable, error));
            if (error) co_return;
        }
    }
}

}  // namespace

awaitable<void> relay_both_ways(Socket& left, Socket& right) {
    using asio::experimental::awaitable_operators::operator&&;
    left.non_blocking(true);
    right.non_blocking(true);
    co_await (carry(left, right) && carry(right, left));
}

}  // namespace sandpipe
