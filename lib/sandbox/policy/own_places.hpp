#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "wire/access_rules.hpp"

namespace sandpipe {

// What every session has of its own instead of the host's. The rules of a policy are about the host's files,
// so none of them begins in these places, except in /tmp, where the policy may show some of the host's.

inline constexpr std::string_view kTmp = "/tmp";
inline constexpr std::string_view kDev = "/dev";
inline constexpr std::string_view kProc = "/proc";
inline constexpr std::string_view kSys = "/sys";

/// In every session's /dev, and writable there.
inline constexpr std::array<std::string_view, 9> kOwnDevices{"/dev/null",   "/dev/zero",    "/dev/full",
                                                             "/dev/random", "/dev/urandom", "/dev/tty",
                                                             "/dev/ptmx",   "/dev/pts",     "/dev/shm"};

/// Names in /dev for what a command has anyway. Nobody has to grant them, but lists made for other tools do.
inline constexpr std::array<std::string_view, 4> kStandardStreams{"/dev/stdin", "/dev/stdout", "/dev/stderr",
                                                                  "/dev/fd"};

[[nodiscard]] constexpr bool is_standard_stream(std::string_view path) noexcept {
    return std::find(kStandardStreams.begin(), kStandardStreams.end(), path) != kStandardStreams.end();
}

[[nodiscard]] constexpr bool is_own_device(std::string_view place) noexcept {
    return std::find(kOwnDevices.begin(), kOwnDevices.end(), place) != kOwnDevices.end();
}

/// Whether `place` is in a tree that every session has of its own, where no rule of a policy begins.
[[nodiscard]] inline bool is_in_own_tree(std::string_view place) {
    return wire::holds(kDev, place) || wire::holds(kProc, place);
}

}  // namespace sandpipe
