#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace sandpipe::cli {

/// What a number may be at least.
enum class Zero : std::uint8_t { refused, allowed };

/// "2", "0.25" in seconds, at most 1e9 of them. Throws `Error` naming `option` and the text.
[[nodiscard]] std::chrono::nanoseconds parse_seconds(std::string_view option, const std::string& text,
                                                     Zero zero);

/// A positive whole number of bytes. Throws `Error` naming `option` and the text.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view option, const std::string& text);

}  // namespace sandpipe::cli
