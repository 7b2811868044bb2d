#pragma once

#include <string>
#include <vector>

#include "sandbox/policy/path_facts.hpp"

namespace sandpipe {

/// The repository of a linked worktree (git-worktree(1)), as far as its pointers can be believed.
struct GitWorktree {
    bool linked = false;              ///< `.git` is a pointer
    std::string fault;                ///< not empty: the pointer is not believed, and why
    std::string common;               ///< the repository's own directory
    std::vector<std::string> others;  ///< files of its other worktrees that git needs to write only there
};

/// Where the `.git` of a resolved directory leads if it is a file, as of a linked worktree, a submodule or with
/// --separate-git-dir (gitrepository-layout(5)), by whatever links; empty if it does not say.
[[nodiscard]] std::string git_pointer_target(const std::string& directory, const PathFacts& facts);

/// Looks at the `.git` of a resolved directory. It may have been written by a command, and so may all that it
/// names: the pointer is believed only if it leads, without any symbolic link, to an entry of a repository's
/// worktrees whose own pointer leads back to this very file.
[[nodiscard]] GitWorktree find_git_worktree(const std::string& directory, const PathFacts& facts);

}  // namespace sandpipe
