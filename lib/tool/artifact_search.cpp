#include <sandpipe/error.hpp>
#include <sandpipe/tool/spooled_artifact.hpp>

#include <re2/re2.h>

#include <algorithm>
#include <utility>

namespace sandpipe {
namespace {

constexpr std::uint64_t kRead = 256 * 1024;
constexpr std::size_t kLongestPart = 1024 * 1024;

RE2::Options re2_options(const SearchOptions& options) {
    RE2::Options made;
    made.set_log_errors(false);
    made.set_case_sensitive(!options.ignore_case);
    return made;
}

/// Takes a text in pieces and looks at it line by line.
class Search {
  public:
    Search(const RE2& expression, const SearchOptions& options)
        : expression_(expression), options_(options) {}

    void take(std::string_view text) {
        while (!done() && !text.empty()) {
            const std::size_t newline = text.find('\n');
            pending_ += text.substr(0, newline);
            if (newline == text.npos) return look_at_parts();
            end_line();
            text.remove_prefix(newline + 1);
        }
    }

    [[nodiscard]] bool done() const { return matches_.size() >= options_.most; }

    /// The last line may have no newline.
    std::vector<ArtifactMatch> finish() {
        if (!done() && !pending_.empty()) look();
        return std::move(matches_);
    }

  private:
    void look_at_parts() {
        while (!done() && pending_.size() > kLongestPart) {
            const std::string rest = pending_.substr(kLongestPart);
            pending_.resize(kLongestPart);
            look();
            start_ += pending_.size();
            pending_ = rest;
        }
    }

    void end_line() {
        look_at_parts();
        if (!done()) look();
        start_ += pending_.size() + 1;
        pending_.clear();
        ++line_;
    }

    void look() {
        re2::StringPiece found;
        // One match for a line, however many of its parts match.
        if (!matches_.empty() && matches_.back().line == line_) return;
        if (!expression_.Match(pending_, 0, pending_.size(), RE2::UNANCHORED, &found, 1)) return;
        const auto at = static_cast<std::uint64_t>(found.data() - pending_.data());
        matches_.push_back({line_, start_ + at, pending_.substr(0, options_.line_bytes)});
    }

    const RE2& expression_;
    const SearchOptions& options_;
    std::vector<ArtifactMatch> matches_;
    std::string pending_;  // of the line that is being read
    std::uint64_t start_ = 0;
    std::uint64_t line_ = 1;
};

}  // namespace

std::vector<ArtifactMatch> SpooledArtifact::search(std::string_view pattern,
                                                   const SearchOptions& options) const {
    const RE2 expression(re2::StringPiece(pattern.data(), pattern.size()), re2_options(options));
    if (!expression.ok())
        throw Error(Errc::invalid_sandbox_config, "the pattern \"" + std::string(pattern) +
                                                      "\" is no RE2 expression: " + expression.error());
    Search search(expression, options);
    const std::uint64_t kept = facts().kept;
    for (std::uint64_t offset = 0; offset < kept && !search.done(); offset += kRead)
        search.take(range(offset, std::min(kRead, kept - offset)));
    return search.finish();
}

}  // namespace sandpipe
