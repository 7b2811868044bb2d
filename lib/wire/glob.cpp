#include "glob.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sandpipe::wire {
namespace {

constexpr std::string_view kAnyDepth = "**";
constexpr std::uint32_t kNoCharacter = 0x110000;  // bytes that are no UTF-8 stand above all characters

std::size_t length_by_first(unsigned char first) noexcept {
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if (first >= 0xe0 && first <= 0xef) return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 1;
}

/// The character at `at`, which is moved past it.
std::uint32_t take_character(std::string_view text, std::size_t& at) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    const std::size_t length = length_by_first(first);
    std::uint32_t value = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if (at + i >= text.size() || (byte(at + i) & 0xc0) != 0x80) return kNoCharacter + byte(at++);
        value = value << 6 | (byte(at + i) & 0x3fU);
    }
    at += length;
    return first < 0x80 || length > 1 ? value : kNoCharacter + first;
}

/// Position of the "]" that closes the set which begins at `at`, or npos.
std::size_t end_of_set(std::string_view pattern, std::size_t at) noexcept {
    ++at;
    if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
    return at < pattern.size() ? pattern.find(']', at + 1) : std::string_view::npos;
}

bool in_set(std::string_view set, std::uint32_t wanted) noexcept {
    const bool negated = !set.empty() && (set[0] == '!' || set[0] == '^');
    bool found = false;
    for (std::size_t at = negated ? 1 : 0; at < set.size();) {
        const std::uint32_t first = take_character(set, at);
        std::uint32_t last = first;
        if (at + 1 < set.size() && set[at] == '-') last = take_character(set, ++at);
        found = found || (first <= wanted && wanted <= last);
    }
    return found != negated;
}

/// One character of the name against what stands at `at` in the pattern; both move on if it matches.
bool match_character(std::string_view pattern, std::size_t& at, std::string_view name,
                     std::size_t& in_name) noexcept {
    if (at == pattern.size()) return false;
    std::size_t next = at;
    std::size_t next_in_name = in_name;
    const std::uint32_t character = take_character(name, next_in_name);
    const std::size_t end = pattern[at] == '[' ? end_of_set(pattern, at) : std::string_view::npos;
    bool matches = true;
    if (end != std::string_view::npos) {
        matches = in_set(pattern.substr(at + 1, end - at - 1), character);
        next = end + 1;
    } else {
        matches = take_character(pattern, next) == character || pattern[at] == '?';
    }
    if (!matches) return false;
    at = next;
    in_name = next_in_name;
    return true;
}

/// A pattern's components, and which of them may come next: bit n, with all n matched, is the end.
class Progress {
  public:
    explicit Progress(std::string_view pattern) noexcept {
        while (!pattern.empty() && count_ < components_.size()) {
            const std::size_t slash = pattern.find('/');
            components_[count_++] = pattern.substr(0, slash);
            pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
        }
        states_ = pattern.empty() ? passing(1) : bit(count_);
    }

    void step(std::string_view name) noexcept {
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            if (!(states_ & bit(i))) continue;
            if (components_[i] == kAnyDepth)
                next |= bit(i);
            else if (match_name(components_[i], name))
                next |= bit(i + 1);
        }
        states_ = passing(next);
    }

    [[nodiscard]] bool matched() const noexcept { return (states_ & bit(count_)) != 0; }
    [[nodiscard]] bool open() const noexcept { return (states_ & ~bit(count_)) != 0; }

  private:
    static std::uint64_t bit(std::size_t i) noexcept { return std::uint64_t{1} << i; }

    /// "**" may stand for nothing.
    [[nodiscard]] std::uint64_t passing(std::uint64_t states) const noexcept {
        for (std::size_t i = 0; i < count_; ++i)
            if ((states & bit(i)) && components_[i] == kAnyDepth) states |= bit(i + 1);
        return states;
    }

    std::array<std::string_view, kMaxGlobComponents> components_;
    std::size_t count_ = 0;
    std::uint64_t states_ = 0;
};

}  // namespace

bool has_glob(std::string_view path) noexcept { return path.find_first_of("*?[") != std::string_view::npos; }

std::size_t count_components(std::string_view pattern) noexcept {
    std::size_t count = pattern.empty() ? 0 : 1;
    for (const char c : pattern) count += c == '/' ? 1 : 0;
    return count;
}

bool match_name(std::string_view pattern, std::string_view name) noexcept {
    std::size_t at = 0;
    std::size_t in_name = 0;
    std::size_t after_star = std::string_view::npos;
    std::size_t retry = 0;
    while (in_name < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            after_star = ++at;
            retry = in_name;
        } else if (!match_character(pattern, at, name, in_name)) {
            // Only the last star need take more: what stands before it has matched as early as it can.
            if (after_star == std::string_view::npos) return false;
            (void)take_character(name, retry);
            in_name = retry;
            at = after_star;
        }
    }
    while (at < pattern.size() && pattern[at] == '*') ++at;
    return at == pattern.size();
}

GlobMatch match_glob(std::string_view pattern, std::string_view path) noexcept {
    Progress progress(pattern);
    GlobMatch match;
    if (progress.matched()) match.matched = 0;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        progress.step(path.substr(at, end - at));
        if (progress.matched()) match.matched = end;
        at = end + 1;
    }
    match.open = progress.open();
    return match;
}

}  // namespace sandpipe::wire
