#include <sandpipe/text.hpp>

#include <algorithm>
#include <utility>

#include "core/utf8.hpp"

namespace sandpipe {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::string Utf8Decoder::decode(std::string_view bytes) {
    std::string input = std::move(pending_);
    pending_.clear();
    input.append(bytes);
    std::string text;
    text.reserve(input.size());
    for (std::string_view rest = input; !rest.empty();) {
        const detail::Utf8Unit unit = detail::utf8_unit(rest);
        if (unit.kind == detail::Utf8::incomplete) {
            pending_ = rest;
            break;
        }
        text.append(unit.kind == detail::Utf8::valid ? rest.substr(0, unit.length) : kReplacement);
        rest.remove_prefix(unit.length);
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
            // The last byte may be the CR of a CRLF, which is no part of the line.
            const bool doubtful = options_.delimiter == '\n' && pending_.ends_with('\r');
            if (doubtful) pending_.pop_back();
            cut_long(lines);
            if (doubtful) pending_ += '\r';
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
    std::size_t from = 0;
    for (; pending_.size() - from > most; from += most) lines.push_back({pending_.substr(from, most), true, false});
    inside_ = inside_ || from > 0;
    pending_.erase(0, from);
}

std::vector<Line> LineSplitter::flush() {
    std::vector<Line> lines;
    cut_long(lines);
    if (!pending_.empty() || inside_) lines.push_back({std::exchange(pending_, {}), false, false});
    inside_ = false;
    return lines;
}

}  // namespace sandpipe
