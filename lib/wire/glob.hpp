#pragma once

#include <cstddef>
#include <string_view>

namespace sandpipe::wire {

// What a glob means, in every list of a policy and on both sides of the wire:
//
//   *      any characters of one name, none too; hidden names match
//   ?      one character of a name (of UTF-8; of other bytes one byte)
//   [a-z]  one character of the set; [!a-z] and [^a-z]: one outside of it; a "]" that comes first is one of
//          the set; a "[" that is never closed means itself
//   **     as a whole component: any number of components, none too
//
// Nothing matches a "/". Case matters. A backslash is a character like any other.

/// A pattern with more components matches everything below its place: whoever makes one has to refuse it.
inline constexpr std::size_t kMaxGlobComponents = 63;

/// Whether `path` has a character with a meaning of its own.
[[nodiscard]] bool has_glob(std::string_view path) noexcept;

/// How many components `pattern` has.
[[nodiscard]] std::size_t count_components(std::string_view pattern) noexcept;

struct GlobMatch {
    static constexpr std::size_t kNone = std::string_view::npos;
    /// Length of the longest beginning of the path, cut at a component, that the pattern matches.
    std::size_t matched = kNone;
    /// Something below the path may match.
    bool open = false;
};

/// Matches the path and everything above it in one pass: each component is looked at once for each of the
/// pattern's, so there is nothing to blow up. `pattern` and `path` are relative to the same place, without
/// doubled or final slashes; an empty path is the place itself. Allocates nothing. Pure.
[[nodiscard]] GlobMatch match_glob(std::string_view pattern, std::string_view path) noexcept;

/// One component against one name; "**" is "*" here. Takes at most the product of both lengths.
[[nodiscard]] bool match_name(std::string_view pattern, std::string_view name) noexcept;

}  // namespace sandpipe::wire
