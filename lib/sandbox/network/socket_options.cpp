#include "sandbox/network/socket_options.hpp"

#include <netinet/tcp.h>

#include <system_error>

namespace sandpipe {
namespace {

using KeepAliveIdle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
using KeepAliveInterval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;

}  // namespace

void set_options(asio::ip::tcp::socket& socket) {
    // Readiness is told spuriously at times, and a read would then hold up the whole loop.
    socket.non_blocking(true);
    std::error_code ignored;  // a socket that its peer has reset takes no options, and needs none
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    socket.set_option(KeepAliveIdle(30), ignored);
    socket.set_option(KeepAliveInterval(10), ignored);
}

void keep_queue_short(asio::ip::tcp::socket& client) {
    constexpr int kQueueBytes = 256 * 1024;
    std::error_code ignored;  // as above
    client.set_option(asio::socket_base::send_buffer_size(kQueueBytes), ignored);
}

}  // namespace sandpipe
