#pragma once

#include <sandpipe/unique_fd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sandpipe::wire {

/// A received message and the descriptors that came with it.
struct Packet {
    std::string bytes;
    std::vector<unique_fd> fds;
};

/// No message is larger than argv and environment can be (execve(2): 6 MiB) with room for a policy.
inline constexpr std::size_t kMaxBodyBytes = 64 * 1024 * 1024;

/// Sends one packet without blocking and without SIGPIPE. A body that is too large for a packet travels in a
/// sealed memfd, which `receive_packet` reads back. Returns 0 or -errno; -EAGAIN (the peer does not read) and
/// -ETOOMANYREFS (too many descriptors under way, unix(7)) pass, everything else is final; -E2BIG is for more than
/// kMaxBodyBytes.
[[nodiscard]] int send_packet(int socket, std::string_view bytes, std::span<const int> fds = {});

/// Takes one packet without blocking. Returns 1, 0 at end of file, or -errno; -EPROTO for a packet that was
/// cut or whose body cannot be read, -E2BIG for a body of more than kMaxBodyBytes, -EMFILE where this process could not
/// take all of its descriptors: those that came are in `packet`. All descriptors are CLOEXEC and at least 3.
[[nodiscard]] int receive_packet(int socket, Packet& packet);

}  // namespace sandpipe::wire
