#include "terminal_text.hpp"

#include <utility>

#include "process/exit_status.hpp"
#include "core/utf8.hpp"

namespace sandpipe::cli {

TerminalPieces TerminalText::render(const OutputEvent& event) {
    if (const auto* chunk = std::get_if<OutputChunk>(&event)) return output(*chunk);
    if (const auto* finished = std::get_if<Finished>(&event)) return end(*finished);
    return {"", marker(event)};
}

TerminalPieces TerminalText::output(const OutputChunk& chunk) {
    const bool to_err = chunk.stream == StreamTag::err;
    std::string text = complete(to_err, chunk.data);
    note_line_end(to_err, text);
    return to_err ? TerminalPieces{"", std::move(text)} : TerminalPieces{std::move(text), ""};
}

std::string TerminalText::complete(bool to_err, const std::string& data) {
    if (options_.quiet || !(to_err || options_.one_place)) return data;
    std::string& pending = to_err ? pending_err_ : pending_out_;
    std::string text = std::exchange(pending, {}) + data;
    pending = text.substr(text.size() - detail::incomplete_utf8_tail(text));
    text.resize(text.size() - pending.size());
    return text;
}

void TerminalText::note_line_end(bool to_err, const std::string& text) {
    if (!text.empty() && (to_err || options_.one_place)) mid_line_ = text.back() != '\n';
}

std::string TerminalText::marker(const OutputEvent& event) {
    std::string lines = options_.quiet ? "" : markers_.render(event);
    if (lines.empty()) return lines;
    return std::exchange(mid_line_, false) ? "\n" + lines : lines;
}

TerminalPieces TerminalText::end(const Finished& finished) {
    TerminalPieces pieces{std::exchange(pending_out_, {}), std::exchange(pending_err_, {})};
    note_line_end(false, pieces.out);
    note_line_end(true, pieces.err);
    if (!detail::is_own_status(finished.result)) pieces.err += marker(finished);
    return pieces;
}

}  // namespace sandpipe::cli
