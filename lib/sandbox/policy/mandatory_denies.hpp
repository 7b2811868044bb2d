#pragma once

#include <sandpipe/policy.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy/path_facts.hpp"

namespace sandpipe {

/// What no command may write in a writable root, because programs on the host would run it or believe it. The
/// one table: enforced, accepted by `mandatoryDenyExcept`, and printed by the documentation.
inline constexpr std::array<std::string_view, 17> kMandatoryDenies{
    ".gitconfig",     ".gitmodules", ".bashrc",     ".bash_profile",
    ".zshrc",         ".zprofile",   ".profile",    ".ripgreprc",
    ".mcp.json",      ".vscode",     ".idea",       ".claude/commands",
    ".claude/agents", ".git/hooks",  ".git/config", ".git/config.worktree",
    ".git/commondir"};

/// One name, or a directory and a name in it: the search for them goes no deeper.
constexpr bool is_mandatory_name(std::string_view name) {
    const std::size_t slash = name.find('/');
    return name.starts_with('.') && slash != 0 && !name.ends_with('/') &&
           (slash == std::string_view::npos || name.find('/', slash + 1) == std::string_view::npos);
}
static_assert(std::all_of(kMandatoryDenies.begin(), kMandatoryDenies.end(), is_mandatory_name));

[[nodiscard]] constexpr bool is_mandatory_deny(std::string_view name) noexcept {
    return std::find(kMandatoryDenies.begin(), kMandatoryDenies.end(), name) != kMandatoryDenies.end();
}
static_assert(is_mandatory_deny(".git/config") && is_mandatory_deny(".git/hooks"));

/// A path to deny: not resolved to its end, and not of the user's making.
struct MandatoryPlace {
    std::string path;
    std::string text;  ///< the rule's words: ".vscode (always denied)"
    std::size_t resolved = 0;  ///< so much of `path` is a directory without links on the way
    bool until_made = false;  ///< a part that a new repository comes with: whoever makes it may make that too
    bool only_link = false;  ///< what it leads to is not what the name stands for
};

struct MandatoryPlaces {
    std::vector<MandatoryPlace> places;
    std::vector<MandatoryPlace> new_repositories;  ///< a .git that may be made there
    std::vector<std::string> warnings;  ///< directories that could not be searched
};

/// Where the table applies under these writable roots (resolved directories and files): what exists at any
/// depth, but not in node_modules nor behind links; what does not exist, at each root. Throws `Error`
/// E_INVALID_SANDBOX_CONFIG for roots with more entries than a session's start may take to search. Directories that are
/// `passed_over` are not looked into.
[[nodiscard]] MandatoryPlaces find_mandatory_denies(const std::vector<std::string>& roots,
                                                    const FilesystemPolicy& policy, const PathFacts& facts,
                                                    const std::vector<std::string>& passed_over);

}  // namespace sandpipe
