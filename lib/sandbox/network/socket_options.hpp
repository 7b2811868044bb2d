#pragma once

#include <asio/ip/tcp.hpp>

namespace sandpipe {

/// Nothing blocks; small writes go out at once; a peer that is gone without a word is found within two minutes.
void set_options(asio::ip::tcp::socket& socket);

/// The client is on this machine, and a queue that fits into the processor's cache is read from there: with those
/// that the kernel would let grow to 4 MiB, copying costs all three processes a fifth more.
void keep_queue_short(asio::ip::tcp::socket& client);

}  // namespace sandpipe
