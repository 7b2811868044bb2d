#pragma once

#include <cstdint>
#include <string_view>

namespace sandpipe::wire {

// Where a session's commands find the proxies: on 127.0.0.1 of their own network namespace, in which nothing else
// can have these ports when the cell takes them.
inline constexpr std::uint16_t kHttpProxyPort = 3128;
inline constexpr std::uint16_t kSocksProxyPort = 1080;

/// The directory in a session's own /dev with the helper's image in it, for programs that know no proxy
/// (launcher/connect.hpp); only where the session has proxies and a /dev of its own.
inline constexpr std::string_view kRelayDirectory = "sandpipe";
inline constexpr std::string_view kRelayName = "launcher";
inline constexpr std::string_view kRelayPath = "/dev/sandpipe/launcher";

}  // namespace sandpipe::wire
