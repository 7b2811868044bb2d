#include "sandbox/network/relay.hpp"

#include <asio/buffer.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/socket_base.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <system_error>

#include "sandbox/network/socket_ends.hpp"

namespace sandpipe {
namespace {

using Socket = asio::ip::tcp::socket;

// Measured: splice(2) through a pipe is slower here. It leaves the copies to the reader, when what it reads has long
// left the processor's cache.
constexpr std::size_t kBufferBytes = 256 * 1024;

class Relay {
  public:
    Relay(Socket& left, Socket& right) : left_(left), right_(right) {}

    awaitable<void> run() {
        using asio::experimental::awaitable_operators::operator&&;
        co_await (direction(left_, right_) && direction(right_, left_));
    }

  private:
    enum class End : std::uint8_t { of_stream, reader_gone };

    awaitable<void> direction(Socket& from, Socket& to);
    awaitable<End> carry(Socket& from, Socket& to);

    Socket& left_;
    Socket& right_;
    int open_ = 2;  // directions
};

/// A reader that went away leaves the other direction to find that out for itself: there may still be something to read
/// from there. A writer that has ended its stream is watched, because nobody reads from it any more: once it is gone
/// altogether, an other side that says nothing would be waited for forever.
awaitable<void> Relay::direction(Socket& from, Socket& to) {
    const End end = co_await carry(from, to);
    // Who watched the one that this direction wrote to has nothing to wait for now.
    if (--open_ == 0) to.cancel();
    if (open_ == 0 || end == End::reader_gone) co_return;
    co_await wait_until_broken(from);
    if (open_ == 0) co_return;
    break_off(to);
    throw std::system_error(asio::error::connection_reset);
}

awaitable<Relay::End> Relay::carry(Socket& from, Socket& to) {
    for (;;) {
        std::error_code error;
        co_await from.async_wait(asio::socket_base::wait_read, asio::use_awaitable);
        const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
        for (;;) {
            const std::size_t size = from.read_some(asio::buffer(buffer.get(), kBufferBytes), error);
            if (error == asio::error::would_block) break;
            if (error == asio::error::eof) {
                to.shutdown(asio::socket_base::shutdown_send, error);
                co_return End::of_stream;
            }
            if (error) {
                break_off(to);
                throw std::system_error(error);
            }
            const auto bytes = asio::buffer(buffer.get(), size);
            co_await asio::async_write(to, bytes, asio::redirect_error(asio::use_awaitable, error));
            if (error) co_return End::reader_gone;
        }
    }
}

}  // namespace

awaitable<void> relay_both_ways(Socket& left, Socket& right) {
    left.non_blocking(true);
    right.non_blocking(true);
    Relay relay(left, right);
    co_await relay.run();
}

}  // namespace sandpipe
