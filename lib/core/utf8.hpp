#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sandpipe::detail {

enum class Utf8 : std::uint8_t {
    valid,
    incomplete,  ///< the text ends inside a sequence that could still become valid
    invalid,
};

/// What stands at the beginning of a text. `length`: the bytes it takes; of what is invalid those that one replacement
/// character stands for (Unicode 3.9, "maximal subpart").
struct Utf8Unit {
    Utf8 kind = Utf8::invalid;
    std::size_t length = 1;
};

/// The bytes that may stand second differ by the first one: Unicode, table 3-7 (no overlong forms, no
/// surrogates).
struct Utf8Lead {
    std::size_t size = 0;
    unsigned char second_low = 0x80;
    unsigned char second_high = 0xBF;
};

inline Utf8Lead utf8_lead(unsigned char byte) noexcept {
    if (byte < 0x80) return {1};
    if (byte < 0xC2) return {0};
    if (byte < 0xE0) return {2};
    if (byte < 0xF0) {
        return {3, static_cast<unsigned char>(byte == 0xE0 ? 0xA0 : 0x80),
                static_cast<unsigned char>(byte == 0xED ? 0x9F : 0xBF)};
    }
    if (byte > 0xF4) return {0};
    return {4, static_cast<unsigned char>(byte == 0xF0 ? 0x90 : 0x80),
            static_cast<unsigned char>(byte == 0xF4 ? 0x8F : 0xBF)};
}

/// `text` must not be empty.
inline Utf8Unit utf8_unit(std::string_view text) noexcept {
    const Utf8Lead lead = utf8_lead(static_cast<unsigned char>(text[0]));
    if (lead.size == 0) return {};
    for (std::size_t i = 1; i < lead.size; ++i) {
        if (i == text.size()) return {Utf8::incomplete, i};
        const auto byte = static_cast<unsigned char>(text[i]);
        const unsigned char low = i == 1 ? lead.second_low : 0x80;
        const unsigned char high = i == 1 ? lead.second_high : 0xBF;
        if (byte < low || byte > high) return {Utf8::invalid, i};
    }
    return {Utf8::valid, lead.size};
}

inline bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const Utf8Unit unit = utf8_unit(text);
        if (unit.kind != Utf8::valid) return false;
        text.remove_prefix(unit.length);
    }
    return true;
}

/// How many bytes at the end of `text` begin a sequence that is not complete: 0 to 3.
inline std::size_t incomplete_utf8_tail(std::string_view text) noexcept {
    for (std::size_t size = 1; size <= 3 && size <= text.size(); ++size) {
        const Utf8Unit unit = utf8_unit(text.substr(text.size() - size));
        if (unit.kind == Utf8::incomplete && unit.length == size) return size;
    }
    return 0;
}

}  // namespace sandpipe::detail
