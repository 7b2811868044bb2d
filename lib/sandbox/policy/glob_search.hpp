#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sandbox/policy/path_facts.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe {

/// One glob of a policy, and whose it is.
struct GlobQuery {
    wire::Access access = wire::Access::deny_write;
    std::string place;  ///< resolved; the search goes no higher
    std::string glob;   ///< relative to `place`
    std::string where;  ///< "filesystem.denyRead[2]", for errors and warnings
};

struct GlobFind {
    std::size_t query = 0;  ///< which of the queries
    std::string path;
    PathKind kind = PathKind::missing;  ///< a symbolic link is none of what it leads to
};

/// A directory in which a query may match, but which could not be searched (list_surely).
struct GlobGap {
    std::size_t query = 0;
    std::string path;
    int error = 0;
};

struct GlobFinds {
    std::vector<GlobFind> names;
    std::vector<GlobGap> gaps;
};

/// What exists and matches. Looks no further into a directory than a glob may match there, nor through links,
/// nor below what a glob matched already, unless `rules` allow reading it in spite of that. Throws `Error`
/// E_INVALID_SANDBOX_CONFIG for a glob that has to search, or finds, more than a session's start may take. Directories
/// that are `passed_over` are not looked into.
[[nodiscard]] GlobFinds find_globs(const std::vector<GlobQuery>& queries, const wire::AccessRules& rules,
                                   const PathFacts& facts, const std::vector<std::string>& passed_over);

}  // namespace sandpipe
