#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sandpipe::tool {

/// What a bounded text does not have.
struct LeftOut {
    std::uint64_t bytes = 0;
    std::uint64_t lines = 0;  ///< newlines among these bytes
};

/// Keeps the first and the last half of a text of any length, in memory of a fixed size. Cuts between lines
/// where that costs less than half of what is kept, else between characters. Pure.
class BoundedText {
  public:
    /// `limit`: bytes kept; at least 2.
    explicit BoundedText(std::size_t limit) : half_(limit / 2) {}

    void append(std::string_view text);

    /// The text as valid UTF-8. Between head and tail stands a line with this command's `marker`, which says
    /// how much was left out.
    [[nodiscard]] std::string text(std::string_view marker) const;
    /// What `text` does not have.
    [[nodiscard]] LeftOut left_out() const noexcept { return kept().left_out; }

  private:
    struct Kept {
        std::string_view head;
        std::string_view tail;
        LeftOut left_out;
    };
    [[nodiscard]] Kept kept() const noexcept;
    void shorten_tail();

    std::size_t half_;
    std::string head_;
    std::string tail_;  // up to twice what is kept, so that each byte is moved once and not every time
    LeftOut dropped_;
};

/// Every byte that is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

}  // namespace sandpipe::tool
