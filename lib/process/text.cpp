#include <sandpipe/text.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sandpipe {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The bytes that may follow a first byte: how many, and the range of the first of them (Unicode 3.9, table 3-7).
struct Sequence {
    std::size_t length = 0;  // 0: no first byte at all
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
};

Sequence sequence_of(std::uint8_t first) noexcept {
    if (first < 0x80) return {1};
    if (first < 0xC2) return {};
    if (first < 0xE0) return {2};
    if (first == 0xE0) return {3, 0xA0, 0xBF};
    if (first == 0xED) return {3, 0x80, 0x9F};
    if (first < 0xF0) return {3};
    if (first == 0xF0) return {4, 0x90, 0xBF};
    if (first < 0xF4) return {4};
    if (first == 0xF4) return {4, 0x80, 0x8F};
    return {};
}

/// How many bytes at the front of `bytes` are a sequence or a beginning of one.
std::size_t valid_prefix(std::string_view bytes, const Sequence& sequence) noexcept {
    std::size_t count = 1;
    for (; count < sequence.length && count < bytes.size(); ++count) {
        const auto byte = static_cast<std::uint8_t>(bytes[count]);
        const bool first = count == 1;
        if (byte < (first ? sequence.low : 0x80) || byte > (first ? sequence.high : 0xBF)) break;
    }
    return count;
}

}  // namespace

std::string Utf8Decoder::decode(std::string_view bytes) {
    std::string input = std::move(pending_);
    pending_.clear();
    input.append(bytes);
    std::string text;
    text.reserve(input.size());
    for (std::string_view rest = input; !rest.empty();) {
        const Sequence sequence = sequence_of(static_cast<std::uint8_t>(rest.front()));
        const std::size_t count = valid_prefix(rest, sequence);
        if (count < sequence.length && count == rest.size()) {
            pending_ = rest;
            break;
        }
        text.append(count == sequence.length ? rest.substr(0, count) : kReplacement);
        rest.remove_prefix(count);
    }
    return text;
}

std::string Utf8Decoder::flush() {
    return std::exchange(pending_, {}).empty() ? std::string() : std::string(kReplacement);
}

std::vector<Line> LineSplitter::split(std::string_view bytes) {
    std::vector<Line> lines;
    while (!bytes.empty()) {
        const std::size_t end = bytes.find(options_.delimiter);
        pending_.append(bytes.substr(0, end));
        if (end == std::string_view::npos) {
            cut_long(lines);
            break;
        }
        if (options_.delimiter == '\n' && pending_.ends_with('\r')) pending_.pop_back();
        cut_long(lines);
        lines.push_back({std::exchange(pending_, {}), false, true});
        inside_ = false;
        bytes.remove_prefix(end + 1);
    }
    return lines;
}

void LineSplitter::cut_long(std::vector<Line>& lines) {
    const std::size_t most = std::max<std::size_t>(options_.max_length, 1);
    // One byte more may be the CR of a CRLF, which is no part of the line.
    const std::size_t room = pending_.ends_with('\r') ? most + 1 : most;
    std::size_t from = 0;
    for (; pending_.size() - from > room; from += most) lines.push_back({pending_.substr(from, most), true, false});
    inside_ = inside_ || from > 0;
    pending_.erase(0, from);
}

std::vector<Line> LineSplitter::flush() {
    std::vector<Line> lines;
    if (!pending_.empty() || inside_) lines.push_back({std::exchange(pending_, {}), false, false});
    inside_ = false;
    return lines;
}

}  // namespace sandpipe
