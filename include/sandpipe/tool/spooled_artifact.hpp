#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sandpipe {

struct SpoolOptions {
    /// Kept in memory up to here; all of it goes to a file when this is passed. 0: a file from the first
    /// byte.
    std::uint64_t memory_bytes = 1024 * 1024;
    /// What is kept in all; exact to the byte. The rest is counted, not kept. At least 1.
    std::uint64_t quota_bytes = 256 * 1024 * 1024;
    /// Where the file is made, without a name. Empty: /var/tmp. Where no file can be made there, memory that
    /// the kernel can swap (memfd) takes its place.
    std::string directory;
};

/// What is known of an artifact at one moment.
struct ArtifactFacts {
    std::uint64_t bytes = 0;  ///< appended so far
    std::uint64_t kept = 0;   ///< of these, readable: the first ones
    std::uint64_t lines = 0;  ///< in what is kept; a last line without its newline counts
    bool finished = false;    ///< nothing more comes
    bool truncated = false;   ///< something was not kept
    bool in_file = false;
    std::string problem;  ///< why something was not kept: the quota, or what the file system said; else empty
};

struct ArtifactMatch {
    std::uint64_t line = 0;    ///< its number, from 1
    std::uint64_t offset = 0;  ///< of the match, in bytes from the beginning of the artifact
    std::string text;          ///< the line without its newline, cut after `SearchOptions::line_bytes`
};

struct SearchOptions {
    std::size_t most = 100;  ///< matching lines; the search ends there
    bool ignore_case = false;
    std::size_t line_bytes = 2'000;  ///< of each line's text
};

/// All that a command said, as one text of bytes: complete, in order, and readable while it is still written.
/// In memory first, then in a file without a name, which no other process can open and which is gone with
/// this object. Thread-safe: one writer and any number of readers; a reader sees what was appended before it
/// asked. Reading throws `Error` E_SANDBOX_FAILED where the file cannot be read.
class SpooledArtifact {
  public:
    SpooledArtifact() : SpooledArtifact(SpoolOptions{}) {}
    /// Throws `Error` E_INVALID_SANDBOX_CONFIG for a quota of 0 or a directory that is none.
    explicit SpooledArtifact(SpoolOptions options);
    SpooledArtifact(const SpooledArtifact&) = delete;
    SpooledArtifact& operator=(const SpooledArtifact&) = delete;

    /// An empty one with the same options, which are not checked again: that looks at the file system.
    [[nodiscard]] std::shared_ptr<SpooledArtifact> another() const;

    /// For the writer, on whose thread the file is written. What cannot be kept is counted, and `facts` says why;
    /// never an exception for that. Readers do not wait for it.
    void append(std::string_view text);
    /// For the writer: whether `append` of so many bytes would write to a file, and so take as long as that pleases.
    [[nodiscard]] bool would_write(std::uint64_t bytes) const;
    /// For the writer, while an `append` hangs on another thread: neither that text nor what comes after it is kept.
    void give_up(std::string problem);
    /// For the writer: nothing more comes.
    void finish();

    [[nodiscard]] ArtifactFacts facts() const;
    /// The first bytes, at most `most`.
    [[nodiscard]] std::string head(std::uint64_t most) const { return range(0, most); }
    /// The last bytes that are kept, at most `most`.
    [[nodiscard]] std::string tail(std::uint64_t most) const;
    /// At most `most` bytes from `offset` on; "" at the end and beyond.
    [[nodiscard]] std::string range(std::uint64_t offset, std::uint64_t most) const;
    /// `count` lines from number `first` (from 1) on, without their newlines; fewer at the end.
    [[nodiscard]] std::vector<std::string> lines(std::uint64_t first, std::size_t count) const;
    /// The lines that hold a match of `pattern`, an RE2 expression, in order. A line longer than 1 MiB is
    /// looked at in parts of that size. Takes time linear in what is kept. Throws `Error`
    /// E_INVALID_SANDBOX_CONFIG naming a bad pattern and what is wrong with it.
    [[nodiscard]] std::vector<ArtifactMatch> search(std::string_view pattern,
                                                    const SearchOptions& options) const;
    [[nodiscard]] std::vector<ArtifactMatch> search(std::string_view pattern) const {
        return search(pattern, SearchOptions{});
    }

  private:
    using Lock = std::unique_lock<std::mutex>;
    struct Checked {
        SpoolOptions options;
    };

    explicit SpooledArtifact(Checked checked);
    [[nodiscard]] bool needs_file(std::uint64_t bytes) const;
    void write(std::string_view text, Lock& lock);
    [[nodiscard]] bool move_to_file(Lock& lock);
    [[nodiscard]] bool takes_more() const noexcept { return !facts_.truncated && !facts_.finished; }
    void count_lines(std::string_view text);
    void lose(std::string problem);
    [[nodiscard]] std::uint64_t line_start(std::uint64_t number) const;

    const SpoolOptions options_;
    mutable std::mutex mutex_;
    std::string memory_;
    std::shared_ptr<const unique_fd> file_;  // shared with readers, who read without the lock
    std::uint64_t quota_ = 0;
    std::uint64_t newlines_ = 0;
    bool ends_in_newline_ = true;
    std::vector<std::uint64_t> newlines_before_;  // before each block of what is kept
    ArtifactFacts facts_;
};

}  // namespace sandpipe
