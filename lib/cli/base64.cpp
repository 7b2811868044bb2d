#include "base64.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sandpipe::cli {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// 1 to 3 bytes as four characters.
void append_group(std::string& text, std::string_view bytes) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        bits = bits << 8U | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
        text += i <= bytes.size() ? kAlphabet[bits >> (18U - 6U * i) & 63U] : '=';
    }
}

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    while (!bytes.empty()) {
        append_group(text, bytes.substr(0, 3));
        bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()));
    }
    return text;
}

}  // namespace sandpipe::cli
