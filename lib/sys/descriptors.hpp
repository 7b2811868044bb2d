#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace sandpipe::sys {

/// Whether this errno says that processes, descriptors or memory are short, which may pass.
[[nodiscard]] bool is_shortage(int error) noexcept;

/// The two ends of a pipe, with names instead of indices.
struct Pipe {
    unique_fd read_end;
    unique_fd write_end;
};

/// The two ends of a SOCK_SEQPACKET pair.
struct SocketPair {
    unique_fd first;
    unique_fd second;
};

// Everything below returns 0, or a count, or -errno; sets CLOEXEC; and gives no number below 3, so that a
// host that closed its stdin or stdout does not find one of ours there.

[[nodiscard]] int make_pipe(Pipe& pipe) noexcept;
[[nodiscard]] int make_socket_pair(SocketPair& pair) noexcept;
/// An O_CLOEXEC duplicate of `fd`.
[[nodiscard]] int duplicate(int fd, unique_fd& copy) noexcept;
/// An anonymous file with these bytes, sealed against every change, at offset 0. `executable`: with MFD_EXEC
/// where the kernel knows it.
[[nodiscard]] int make_sealed_memfd(const char* name, const void* bytes, std::size_t size, bool executable,
                                    unique_fd& memfd) noexcept;
/// To a file, without the signal that would come beyond RLIMIT_FSIZE.
[[nodiscard]] int write_all(int fd, std::string_view bytes) noexcept;
[[nodiscard]] int open_pidfd(int pid, unique_fd& pidfd) noexcept;
[[nodiscard]] int open_file(const char* path, int flags, unsigned mode, unique_fd& file) noexcept;
[[nodiscard]] int set_nonblocking(int fd) noexcept;
/// Moves `fd` to a number of at least 3.
[[nodiscard]] int lift(unique_fd& fd) noexcept;

/// Closes every descriptor from 3 on but those of `keep`, however many there are. Errors and `by_call` as of
/// `close_range` (close_range.hpp).
[[nodiscard]] int close_all_but(std::vector<int> keep, bool by_call = true) noexcept;

}  // namespace sandpipe::sys
