#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstdint>
#include <vector>

namespace sandpipe::launcher {

/// Brings up the loopback device of the calling process's network namespace, so that commands of a session
/// can talk to each other and to the host's proxies. Returns 0 or -errno.
[[nodiscard]] int bring_up_loopback();

/// Listens on `port` of 127.0.0.1 in the calling process's network namespace. Whoever accepts from the socket
/// need not be in it. Returns 0 or -errno.
[[nodiscard]] int listen_on_loopback(std::uint16_t port, unique_fd& listener);

}  // namespace sandpipe::launcher
