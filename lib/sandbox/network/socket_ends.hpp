#pragma once

#include <sandpipe/awaitable.hpp>

#include <asio/ip/tcp.hpp>

namespace sandpipe {

/// Closes so that the peer sees an error: what it would take for a proper end of the stream must be seen as none.
void break_off(asio::ip::tcp::socket& socket) noexcept;

/// Completes when the connection is broken: the peer has reset it, or did not answer the kernel's probes. A peer that
/// ended only its own direction has broken nothing. Completes also when the wait is cancelled. For who neither reads nor
/// writes and would not notice.
awaitable<void> wait_until_broken(asio::ip::tcp::socket& socket);

/// Whether the peer sends no more, even if some of what it sent has not been read.
[[nodiscard]] bool peer_has_ended(asio::ip::tcp::socket& socket) noexcept;

}  // namespace sandpipe
