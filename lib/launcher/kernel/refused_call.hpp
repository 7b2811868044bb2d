#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <span>

namespace sandpipe::launcher {

/// Who hears of a refused call.
enum class Told : std::uint8_t {
    nobody,  ///< programs make it all the time and have another way: the filter answers by itself
    host,    ///< the supervisor answers, and it is a Denial
    probe,   ///< as `host`, for what programs only try out
};

/// A system call that no command may make.
struct RefusedCall {
    int number;
    int error;
    Told told = Told::host;
};

/// A call that is refused when (argument & mask) == value. The mask is what the kernel looks at: an `int` or
/// `unsigned` is the low half of a register, whatever stands in the high one.
struct RefusedArgument {
    int number;
    unsigned argument;
    std::uint64_t mask;
    std::uint64_t value;
    int error;
    const char* what;  ///< that is refused, for whoever reads a Denial
};

/// The tables that the filter is made from, and by which the supervisor answers.
[[nodiscard]] std::span<const RefusedCall> refused_calls();
[[nodiscard]] std::span<const RefusedArgument> refused_arguments();

/// unshare(2) and clone(2) with any of these flags are EPERM; a new time namespace is unshare's only.
struct NewNamespace {
    std::uint64_t flag;
    const char* name;
};
[[nodiscard]] std::span<const NewNamespace> new_namespaces();

/// Sockets and pairs of sockets that exist inside: their families, and for AF_UNIX their types, for a datagram socket,
/// unlike a connected stream, can be pointed at any named socket of the host by each sendto.
inline constexpr std::uint64_t kSocketTypeMask = 0xf;
[[nodiscard]] bool is_socket_family(int family) noexcept;
[[nodiscard]] bool is_unix_socket_type(std::uint64_t type) noexcept;
inline constexpr int kL2tp = 115;  // IPPROTO_L2TP, whose own header does not go with <netinet/in.h>
/// IPv4 and IPv6: what is TCP, UDP, ICMP or the like. For the rest the kernel loads modules, whoever asks, that few use
/// and that had their share of holes.
[[nodiscard]] bool is_inet_family(int family) noexcept;
[[nodiscard]] bool is_inet_socket_type(std::uint64_t type) noexcept;
[[nodiscard]] std::span<const int> refused_inet_protocols() noexcept;

/// How a notified call that only exists to be refused ends.
struct Refusal {
    int error = 0;
    bool probe = false;
    const char* rule = "";  ///< what a Denial says decided
};
/// `error` 0 for a call that nothing here refuses. Pure: all of it is in registers.
[[nodiscard]] Refusal refusal_of(const seccomp_data& call) noexcept;

}  // namespace sandpipe::launcher
