#include "escaped.hpp"

#include <algorithm>
#include <array>

#include "utf8.hpp"

namespace sandpipe::detail {
namespace {

void append_escaped_bytes(std::string& text, std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += {'\\', 'x', kDigits[value >> 4U], kDigits[value & 15U]};
    }
}

// Characters that could end a line, move the cursor or reorder what stands beside them on a screen.
bool is_deceptive(std::string_view character) {
    if (character.size() == 1) {
        const auto byte = static_cast<unsigned char>(character[0]);
        return byte < 0x20 || byte == 0x7F || byte == '\\';
    }
    if (character[0] == '\xC2') return static_cast<unsigned char>(character[1]) < 0xA0;  // C1 controls
    constexpr std::array<std::string_view, 15> kOthers{
        "\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u202B", "\u202C",
        "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069", "\uFEFF",
    };
    return std::find(kOthers.begin(), kOthers.end(), character) != kOthers.end();
}

}  // namespace

std::string escaped(std::string_view bytes) {
    std::string text;
    while (!bytes.empty()) {
        const Utf8Unit unit = utf8_unit(bytes);
        const std::string_view character = bytes.substr(0, unit.length);
        if (unit.kind != Utf8::valid || is_deceptive(character)) {
            append_escaped_bytes(text, character);
        } else {
            text += character;
        }
        bytes.remove_prefix(unit.length);
    }
    return text;
}

}  // namespace sandpipe::detail
