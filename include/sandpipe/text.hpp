#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sandpipe {

/// Bytes of one stream to valid UTF-8, chunk by chunk: a sequence that a chunk border cuts is put together, what is no
/// UTF-8 becomes U+FFFD (one for each maximal part, as the Unicode Standard recommends in 3.9). Never throws for any
/// input. One for each stream; pure.
class Utf8Decoder {
  public:
    [[nodiscard]] std::string decode(std::string_view bytes);
    /// The stream has ended: an incomplete sequence at its end becomes U+FFFD.
    [[nodiscard]] std::string flush();

  private:
    std::string pending_;  // the beginning of a sequence: at most 3 bytes
};

struct LineOptions {
    char delimiter = '\n';          ///< '\0' for find -print0, '\r' for progress bars
    std::size_t max_length = 1024 * 1024;  ///< bytes; a longer line comes in parts. At least 1.
};

struct Line {
    std::string text;          ///< without its delimiter; with '\n', without the '\r' of a CRLF too
    bool partial = false;      ///< more of the same line follows
    bool terminated = true;    ///< false for a last line without delimiter, and for parts
    friend bool operator==(const Line&, const Line&) = default;
};

/// Bytes of one stream to lines, however the chunks are cut. A lone CR is part of its line. One for each stream; pure.
class LineSplitter {
  public:
    explicit LineSplitter(LineOptions options = {}) : options_(options) {}

    [[nodiscard]] std::vector<Line> split(std::string_view bytes);
    /// The stream has ended: its last line if that had no delimiter.
    [[nodiscard]] std::vector<Line> flush();

  private:
    void cut_long(std::vector<Line>& lines);

    LineOptions options_;
    std::string pending_;
    bool inside_ = false;  // parts of this line were given out
};

}  // namespace sandpipe
