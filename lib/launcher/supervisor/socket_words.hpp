#pragma once

#include <linux/seccomp.h>

#include <string>

namespace sandpipe::launcher {

/// What a call of socket(2) or socketpair(2) asks for: "AF_PACKET, SOCK_RAW", or
/// "AF_INET, SOCK_STREAM, IPPROTO_SCTP". Pure.
[[nodiscard]] std::string socket_words(const seccomp_data& call);

}  // namespace sandpipe::launcher
