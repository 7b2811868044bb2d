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

// Of a longer text these many bytes at its beginning, which names the key, and at its end, which names the remedy.
constexpr std::size_t kHead = 900;
constexpr std::size_t kTail = 300;

// Characters that could end a line, move the cursor or reorder what stands beside them on a screen.
bool is_deceptive(std::string_view character) {
    if (character.size() == 1) {
        const auto byte = static_cast<unsigned char>(character[0]);
        return byte < 0x20 || byte == 0x7F;
    }
    if (character[0] == '\xC2') return static_cast<unsigned char>(character[1]) < 0xA0;  // C1 controls
    constexpr std::array<std::string_view, 15> kOthers{
        "\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u202B", "\u202C",
        "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069", "\uFEFF",
    };
    return std::find(kOthers.begin(), kOthers.end(), character) != kOthers.end();
}

std::string escape(std::string_view bytes, bool backslashes) {
    std::string text;
    while (!bytes.empty()) {
        const Utf8Unit unit = utf8_unit(bytes);
        const std::string_view character = bytes.substr(0, unit.length);
        const bool deceptive = is_deceptive(character) || (backslashes && character == "\\");
        if (unit.kind != Utf8::valid || deceptive) {
            append_escaped_bytes(text, character);
        } else {
            text += character;
        }
        bytes.remove_prefix(unit.length);
    }
    return text;
}

}  // namespace

std::string escaped(std::string_view bytes) { return escape(bytes, true); }

std::string one_line(std::string_view text) {
    if (text.size() <= kHead + kTail) return escape(text, false);
    std::string_view head = text.substr(0, kHead);
    head.remove_suffix(incomplete_utf8_tail(head));
    std::string_view tail = text.substr(text.size() - kTail);
    while (!tail.empty() && (static_cast<unsigned char>(tail.front()) & 0xC0U) == 0x80U) tail.remove_prefix(1);
    const std::size_t left_out = text.size() - head.size() - tail.size();
    return escape(head, false) + " ...(" + std::to_string(left_out) + " bytes)... " + escape(tail, false);
}

}  // namespace sandpipe::detail
