#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sandbox/policy/path_facts.hpp"

namespace sandpipe {

struct UnsearchedDirectory {
    std::string path;
    int error = 0;
};

/// What stands in a repository and has hooks or settings of its own (gitrepository-layout(5)).
struct GitParts {
    std::vector<std::string> worktrees;  ///< entries of `worktrees`
    /// Directories below `modules` (of a worktree too), where repositories of submodules are kept, whose names may
    /// have slashes. Which of them are repositories a command could hide, by moving HEAD away for one, so all are
    /// taken for such, down to where git keeps objects and references, and there what has settings.
    /// One that is a symbolic link to a directory is among them, and what is behind it is not searched.
    std::vector<std::string> modules;
    /// Symbolic links in place of `modules`, `worktrees` or an entry of that: what is behind them is not searched.
    std::vector<std::string> links;
    std::vector<UnsearchedDirectory> unsearched;
};

/// The parts of the repository `git`. `entries` counts what was looked at; the search ends where it passes `most`.
[[nodiscard]] GitParts find_git_parts(const std::string& git, const PathFacts& facts, std::size_t& entries,
                                      std::size_t most);

/// Has all of a repository, so that a name of hooks or settings in `modules` means a submodule called so.
[[nodiscard]] bool is_git_repository(const std::string& directory, const PathFacts& facts);

/// The repository that `git` says it is a part of (commondir); empty if it says nothing.
[[nodiscard]] std::string git_common_directory(const std::string& git, const PathFacts& facts);

}  // namespace sandpipe
