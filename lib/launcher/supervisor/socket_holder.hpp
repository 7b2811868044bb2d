#pragma once

#include "wire/messages.hpp"

namespace sandpipe::launcher {

/// Looks in this pid and network namespace for the process that holds the socket asked for: by its inode in
/// /proc/net/tcp, then by the links in /proc/PID/fd (proc(5)). The first one found; pid 0 where there is none, such
/// as a process that has ended since.
[[nodiscard]] wire::SocketHolder find_socket_holder(const wire::FindSocketHolder& wanted);

}  // namespace sandpipe::launcher
