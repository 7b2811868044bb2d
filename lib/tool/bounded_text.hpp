#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sandpipe::tool {

/// Keeps the first and the last half of a text of any length, in memory of a fixed size. Pure.
class BoundedText {
  public:
    /// `limit`: bytes kept; at least 2.
    explicit BoundedText(std::size_t limit) : half_(limit / 2) {}

    void append(std::string_view text);

    /// The text as valid UTF-8; between head and tail stands how much was left out.
    [[nodiscard]] std::string text() const;
    /// Bytes of the text that `text` does not have.
    [[nodiscard]] std::uint64_t left_out() const noexcept { return kept().left_out; }

  private:
    struct Kept {
        std::string_view head;
        std::string_view tail;
        std::uint64_t left_out = 0;
    };
    [[nodiscard]] Kept kept() const noexcept;
    void shorten_tail();

    std::size_t half_;
    std::string head_;
    std::string tail_;  // up to twice what is kept, so that each byte is moved once and not every time
    std::uint64_t dropped_ = 0;
};

/// Every byte that is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

}  // namespace sandpipe::tool
