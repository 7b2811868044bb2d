#include "transcript.hpp"

#include <csignal>
#include <utility>

#include "narrator.hpp"

namespace sandpipe::tool {
namespace {

constexpr std::size_t kMostRepeated = 20;

std::string with_final_newline(std::string text) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    return text;
}

CommandResult lost(const std::string& marker) {
    CommandResult result;
    result.cause = Cause::lost;
    result.status = Signaled{SIGKILL};
    result.marker = marker;
    return result;
}

std::string on_artifact(const ArtifactFacts& facts) {
    if (!facts.truncated) return {};
    return " Of the whole output " + std::to_string(facts.kept) + " bytes were kept: " + facts.problem + ".";
}

}  // namespace

Transcript::Transcript(CallFacts call, std::string marker, std::size_t text_limit,
                       std::shared_ptr<const PathRedactor> redactor,
                       std::shared_ptr<SpooledArtifact> artifact)
    : call_(std::move(call)),
      marker_(std::move(marker)),
      renderer_(marker_),
      text_(text_limit),
      redactor_(std::move(redactor)),
      artifact_(std::move(artifact)),
      end_(lost(marker_)) {}

std::string Transcript::take(const OutputEvent& event) {
    // Output is not looked through, so it need not be copied either.
    if (std::holds_alternative<OutputChunk>(event)) return note(event);
    return note(redactor_->event(event));
}

std::string Transcript::note(const OutputEvent& event) {
    std::string text = renderer_.render(event);
    text_.append(text);
    if (const auto* denial = std::get_if<Denial>(&event); denial && !denial->probe) {
        std::string line = marker_line(marker_, *denial) + "\n";
        if (known_.insert(line).second) denied_.push_back(std::move(line));
    }
    if (const auto* finished = std::get_if<Finished>(&event)) end_ = finished->result;
    return text;
}

/// A denial that stands in the part that was left out is repeated after it: it is what the model must know.
std::string Transcript::shown_text() const {
    std::string text = with_final_newline(text_.text(marker_));
    if (text_.left_out().bytes == 0) return text;
    std::string repeated;
    std::size_t missing = 0;
    for (const std::string& line : denied_)
        if (text.find(line) == text.npos && ++missing <= kMostRepeated) repeated += line;
    if (missing == 0) return text;
    if (missing > kMostRepeated)
        repeated += "and " + std::to_string(missing - kMostRepeated) + " more, in the whole output\n";
    return text + "Denied in the part that was left out:\n" + repeated;
}

ToolResult Transcript::result() const {
    const ArtifactFacts facts = artifact_->facts();
    ToolResult result;
    result.is_error = end_.failed;
    result.text = shown_text() + valid_utf8(narrate(end_) + on_artifact(facts));
    result.summary = command_summary(call_, end_, text_.left_out(), facts);
    result.artifact = artifact_;
    return result;
}

ToolResult nothing_ran(const CallFacts& call, std::string_view code, const std::string& reason,
                       std::string_view gate) {
    return {true, valid_utf8(reason), refusal_summary(call, code, reason, gate), nullptr};
}

}  // namespace sandpipe::tool
