#include "sandbox/network/socket_ends.hpp"

#include <poll.h>

#include <asio/socket_base.hpp>

#include <system_error>

namespace sandpipe {

void break_off(asio::ip::tcp::socket& socket) noexcept {
    std::error_code ignored;  // it may be closed already
    socket.set_option(asio::socket_base::linger(true, 0), ignored);
    socket.close(ignored);
}

bool peer_has_ended(asio::ip::tcp::socket& socket) noexcept {
    pollfd state{socket.native_handle(), POLLRDHUP, 0};
    return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLERR | POLLHUP)) != 0;
}

}  // namespace sandpipe
