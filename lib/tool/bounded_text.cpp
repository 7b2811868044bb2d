#include "bounded_text.hpp"

#include <algorithm>

#include "process/utf8.hpp"

namespace sandpipe::tool {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

// Steps over the rest of a sequence whose beginning was cut off.
std::string_view from_whole_character(std::string_view text) {
    for (int i = 0; i < 3 && !text.empty() && is_continuation(text.front()); ++i) text.remove_prefix(1);
    return text;
}

std::string_view to_whole_character(std::string_view text) {
    return text.substr(0, text.size() - detail::incomplete_utf8_tail(text));
}

}  // namespace

void BoundedText::append(std::string_view text) {
    const std::size_t room = std::min(half_ - head_.size(), text.size());
    head_ += text.substr(0, room);
    text.remove_prefix(room);
    while (!text.empty()) {
        const std::size_t piece = std::min(half_, text.size());
        tail_ += text.substr(0, piece);
        text.remove_prefix(piece);
        if (tail_.size() >= 2 * half_) shorten_tail();
    }
}

void BoundedText::shorten_tail() {
    dropped_ += tail_.size() - half_;
    tail_.erase(0, tail_.size() - half_);
}

BoundedText::Kept BoundedText::kept() const noexcept {
    const std::size_t extra = tail_.size() > half_ ? tail_.size() - half_ : 0;
    if (dropped_ + extra == 0) return {head_, tail_, 0};
    const std::string_view head = to_whole_character(head_);
    const std::string_view tail = from_whole_character(std::string_view(tail_).substr(extra));
    return {head, tail, dropped_ + (head_.size() - head.size()) + (tail_.size() - tail.size())};
}

std::string BoundedText::text() const {
    const Kept parts = kept();
    // Together, because a character may stand across the border of the two.
    if (parts.left_out == 0) return valid_utf8(head_ + tail_);
    return valid_utf8(parts.head) + "\n[... " + std::to_string(parts.left_out) + " bytes left out ...]\n" +
           valid_utf8(parts.tail);
}

std::string valid_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const detail::Utf8Unit unit = detail::utf8_unit(bytes);
        text += unit.kind == detail::Utf8::valid ? bytes.substr(0, unit.length) : std::string_view("\uFFFD");
        bytes.remove_prefix(unit.length);
    }
    return text;
}

}  // namespace sandpipe::tool
