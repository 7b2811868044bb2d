#include "sandbox/network/socket_ends.hpp"

#include <poll.h>

#include <asio/redirect_error.hpp>
#include <asio/socket_base.hpp>
#include <asio/use_awaitable.hpp>

#include <system_error>

namespace sandpipe {
namespace {

bool shows(asio::ip::tcp::socket& socket, short events, short wanted) noexcept {
    pollfd state{socket.native_handle(), events, 0};
    return ::poll(&state, 1, 0) > 0 && (state.revents & wanted) != 0;
}

}  // namespace

void break_off(asio::ip::tcp::socket& socket) noexcept {
    std::error_code ignored;  // it may be closed already
    socket.set_option(asio::socket_base::linger(true, 0), ignored);
    socket.close(ignored);
}

awaitable<void> wait_until_broken(asio::ip::tcp::socket& socket) {
    std::error_code error;
    // Urgent data (tcp(7)) wakes it too.
    do {
        co_await socket.async_wait(asio::socket_base::wait_error, asio::redirect_error(asio::use_awaitable, error));
    } while (!error && !shows(socket, 0, POLLERR | POLLHUP));
}

bool peer_has_ended(asio::ip::tcp::socket& socket) noexcept {
    return shows(socket, POLLRDHUP, POLLRDHUP | POLLERR | POLLHUP);
}

}  // namespace sandpipe
