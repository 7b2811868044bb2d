#pragma once

namespace sandpipe::launcher {

/// Whether the UNIX socket `socket` is bound to the very inode that `object` (O_PATH) is open on, both on one file
/// system: 1 or 0, or -errno where the kernel does not tell (sock_diag(7)), or the socket is of another network.
/// By the time that one can look at its name, that may be another socket's.
[[nodiscard]] int is_bound_to(int socket, int object);

}  // namespace sandpipe::launcher
