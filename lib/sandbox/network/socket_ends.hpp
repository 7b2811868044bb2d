#pragma once

#include <asio/ip/tcp.hpp>

namespace sandpipe {

/// Closes so that the peer sees an error: what it would take for a proper end of the stream must be seen as none.
void break_off(asio::ip::tcp::socket& socket) noexcept;

/// Whether the peer sends no more, even if some of what it sent has not been read yet.
[[nodiscard]] bool peer_has_ended(asio::ip::tcp::socket& socket) noexcept;

}  // namespace sandpipe
