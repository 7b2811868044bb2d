#pragma once

#include <sandpipe/text_renderer.hpp>

#include <string>

namespace sandpipe::cli {

/// What goes to our stdout and then to our stderr.
struct TerminalPieces {
    std::string out;
    std::string err;
};

struct TerminalTextOptions {
    bool one_place = false;  ///< our stdout and stderr are one terminal, pipe or file
    bool quiet = false;      ///< output only
};

/// Events as the two streams of a terminal: output goes where it came from, markers go to stderr. Where a
/// marker can fall into output it gets a line of its own, and an incomplete UTF-8 sequence waits for its
/// rest; output that no marker can touch is passed on at once, whatever its bytes are. Pure; one per command.
class TerminalText {
  public:
    TerminalText(std::string marker, TerminalTextOptions options)
        : markers_(std::move(marker)), options_(options) {}

    [[nodiscard]] TerminalPieces render(const OutputEvent& event);

  private:
    TerminalPieces output(const OutputChunk& chunk);
    std::string marker(const OutputEvent& event);
    std::string complete(bool to_err, const std::string& data);
    TerminalPieces end(const Finished& finished);
    void note_line_end(bool to_err, const std::string& text);

    TextRenderer markers_;  // sees no output, so it adds no newlines
    TerminalTextOptions options_;
    std::string pending_out_;
    std::string pending_err_;
    bool mid_line_ = false;  // what stands where the next marker goes
};

}  // namespace sandpipe::cli
