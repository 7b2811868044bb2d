#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy/path_facts.hpp"

namespace sandpipe {

/// The place that a path leads to.
struct ResolvedPath {
    std::string place;  ///< absolute; no links, no "..", no doubled slashes
    PathFact fact;      ///< what stands there; never a symbolic link
    /// The names on the way that decide where the path leads: each symbolic link, at a place of its own, and
    /// a missing name that ".." steps back from. Whoever replaces one of them sends the path elsewhere.
    std::vector<std::string> passed;
};

/// As realpath(3), for a path that need not exist: what is missing is appended as it is written. Links that
/// do not end (more than 40, as in the kernel) are an unreachable place with ELOOP: the last one itself.
[[nodiscard]] ResolvedPath resolve_path(std::string_view absolute, const PathFacts& facts);

/// Asked before a name, "..", too, is looked up in a directory.
using MaySearch = std::function<bool(const std::string& directory)>;
/// The same, for a walk that ends at the first directory that may not be searched: then the place is that one, with
/// the names that follow as far as they do not lead back, and unreachable with EACCES.
[[nodiscard]] ResolvedPath resolve_path(std::string_view absolute, const PathFacts& facts, const MaySearch& may_search);
/// The same for `rest` (relative) below a directory that is resolved already: in a deep tree each name that is looked
/// at again costs.
[[nodiscard]] ResolvedPath resolve_below(std::string_view directory, std::string_view rest, const PathFacts& facts);

/// "/a/b" of "/a" and "b", "/b" of "/" and "b".
[[nodiscard]] std::string join_path(std::string_view directory, std::string_view name);
/// "/a" of "/a/b"; "/" of "/a" and of "/".
[[nodiscard]] std::string_view parent_path(std::string_view path) noexcept;
/// `path`, or what is above it and not too long for a system call.
[[nodiscard]] std::string_view nameable_path(std::string_view path) noexcept;
/// "b" of "/a/b"; empty for "/".
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;

}  // namespace sandpipe
