#include "bounded_text.hpp"

#include <algorithm>

#include "core/utf8.hpp"

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

std::string_view cut_head(std::string_view text) {
    const std::size_t newline = text.rfind('\n');
    const bool near = newline != text.npos && newline >= text.size() / 2;
    return near ? text.substr(0, newline + 1) : to_whole_character(text);
}

std::string_view cut_tail(std::string_view text) {
    const std::size_t newline = text.find('\n');
    const bool near = newline != text.npos && newline < text.size() / 2;
    return near ? text.substr(newline + 1) : from_whole_character(text);
}

std::uint64_t newlines(std::string_view text) {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

void add(LeftOut& left_out, std::string_view text) {
    left_out.bytes += text.size();
    left_out.lines += newlines(text);
}

std::string counted(std::uint64_t count, const char* unit) {
    return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
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
    const std::size_t extra = tail_.size() - half_;
    add(dropped_, std::string_view(tail_).substr(0, extra));
    tail_.erase(0, extra);
}

BoundedText::Kept BoundedText::kept() const noexcept {
    const std::size_t extra = tail_.size() > half_ ? tail_.size() - half_ : 0;
    if (dropped_.bytes + extra == 0) return {head_, tail_, {}};
    Kept parts{cut_head(head_), cut_tail(std::string_view(tail_).substr(extra)), dropped_};
    add(parts.left_out, std::string_view(head_).substr(parts.head.size()));
    add(parts.left_out, std::string_view(tail_).substr(0, tail_.size() - parts.tail.size()));
    return parts;
}

std::string BoundedText::text(std::string_view marker) const {
    const Kept parts = kept();
    // Together, because a character may stand across the border of the two.
    if (parts.left_out.bytes == 0) return valid_utf8(head_ + tail_);
    std::string text = valid_utf8(parts.head);
    if (!text.empty() && text.back() != '\n') text += '\n';
    return text + "[sandbox " + std::string(marker) +
           "] left out here: " + counted(parts.left_out.bytes, "byte") + ", " +
           counted(parts.left_out.lines, "line") + "\n" + valid_utf8(parts.tail);
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
