#pragma once

#include <sandpipe/policy.hpp>

#include <string>

namespace sandpipe {

/// A pattern of a path list, cut where its first glob begins.
struct SplitPattern {
    std::string path;  ///< without globs; "." where the pattern begins with one
    std::string glob;  ///< relative to it, as wire/glob.hpp has it; empty: none
};

/// A trailing "/**" (everything below) is the directory itself, because a rule on a directory covers what is
/// below it. Components without meaning ("." and empty ones) are left out of the glob. Pure.
[[nodiscard]] SplitPattern split_pattern(const PathPattern& pattern);

/// What is wrong with the glob of `pattern`, or empty: ".." after a glob, a character class, too many
/// components.
[[nodiscard]] std::string glob_fault(const PathPattern& pattern);

}  // namespace sandpipe
