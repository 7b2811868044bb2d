#pragma once

#include <sandpipe/output_event.hpp>

#include <string>
#include <string_view>

namespace sandpipe {

/// "[sandbox 3f9c12ab04d7] denied: write /etc/x (outside the writable roots: /w)", without a newline.
/// Control characters and bytes that are not UTF-8 in paths are escaped, so that a path cannot forge a line.
[[nodiscard]] std::string marker_line(std::string_view marker, const Denial& denial);

/// "[sandbox 3f9c12ab04d7] timed out after 5s", "... exit code 7", "... killed by SIGSEGV": what the end of
/// the command adds, one line each, or "" for one that finished with 0.
[[nodiscard]] std::string trailer_lines(std::string_view marker, const CommandFacts& facts);

/// Turns the events of one command into text for a terminal or a model: a marker stands on a line of its own
/// and never inside a UTF-8 sequence. Pure; one per command.
class TextRenderer {
  public:
    explicit TextRenderer(std::string marker) : marker_(std::move(marker)) {}

    /// The text that `event` adds. An incomplete UTF-8 sequence at the end of a chunk waits for its rest.
    [[nodiscard]] std::string render(const OutputEvent& event);

  private:
    std::string chunk(const OutputChunk& chunk);
    std::string own_line(const std::string& line);
    std::string flush();

    std::string marker_;
    std::string pending_[3];  // one incomplete sequence for each tag
    bool at_line_start_ = true;
};

}  // namespace sandpipe
