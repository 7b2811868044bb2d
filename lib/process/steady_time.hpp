#pragma once

#include <chrono>

namespace sandpipe::detail {

/// `from` + `time`, and the end of the clock where that lies beyond it, as with kNoTimeout.
[[nodiscard]] inline std::chrono::steady_clock::time_point later(std::chrono::steady_clock::time_point from,
                                                                 std::chrono::nanoseconds time) noexcept {
    constexpr auto kEnd = std::chrono::steady_clock::time_point::max();
    return time >= kEnd - from ? kEnd : from + time;
}

}  // namespace sandpipe::detail
