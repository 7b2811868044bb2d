#include "number.hpp"

#include <sandpipe/error.hpp>

#include <charconv>
#include <cmath>
#include <system_error>

namespace sandpipe::cli {
namespace {

constexpr double kMostSeconds = 1e9;

// The whole text must be the number: "5s" and "" are none.
template <typename Number>
bool read_number(const std::string& text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end;
}

[[noreturn]] void refuse(std::string_view option, const std::string& text, std::string_view accepted) {
    throw Error(Errc::invalid_sandbox_config,
                std::string(option) + " must be " + std::string(accepted) + ", not \"" + text + "\"");
}

}  // namespace

std::chrono::nanoseconds parse_seconds(std::string_view option, const std::string& text, Zero zero) {
    const std::string_view accepted = zero == Zero::allowed
                                          ? "a number of seconds from 0 to 1000000000"
                                          : "a positive number of seconds, at most 1000000000";
    double seconds = 0;
    if (!read_number(text, seconds) || !std::isfinite(seconds)) refuse(option, text, accepted);
    if (std::signbit(seconds) || seconds > kMostSeconds) refuse(option, text, accepted);
    const std::chrono::nanoseconds time{std::llround(seconds * 1e9)};
    // Also what is less than a nanosecond: as a timeout it would be none.
    if (time.count() == 0 && !(zero == Zero::allowed && seconds == 0)) refuse(option, text, accepted);
    return time;
}

std::uint64_t parse_bytes(std::string_view option, const std::string& text) {
    std::uint64_t bytes = 0;
    if (!read_number(text, bytes) || bytes == 0) refuse(option, text, "a positive whole number of bytes");
    return bytes;
}

}  // namespace sandpipe::cli
