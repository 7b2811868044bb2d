#include "sandbox/policy/git_parts.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {
namespace {

bool is_there(const std::string& path, const PathFacts& facts) {
    return facts.look(path).kind != PathKind::missing;
}

bool is_no_directory(const std::string& path, const PathFacts& facts) {
    return is_there(path, facts) && facts.look(path).kind != PathKind::directory;
}

/// By the one sign that a command can neither make, below `modules`, nor take away: HEAD, objects and the like it can, and
/// would have what it put them beside taken for a store of this repository.
bool is_surely_repository(const std::string& directory, const PathFacts& facts) {
    return is_no_directory(join_path(directory, "config"), facts);
}

/// A branch may be called "config", too, but what git writes into it has no section.
bool has_settings(const std::string& directory, const PathFacts& facts) {
    return facts.text(join_path(directory, "config")).find('[') != std::string::npos;
}

/// Where a repository keeps what has any number of names, none of them of hooks or settings. A submodule may be called
/// so, too, but then has settings, which no command can move away.
bool is_store(const std::string& directory, const PathFacts& facts) {
    constexpr std::array<std::string_view, 7> kStores{"objects", "refs", "logs", "info", "hooks", "lfs", "annex"};
    if (std::find(kStores.begin(), kStores.end(), last_name(directory)) == kStores.end()) return false;
    return !is_no_directory(join_path(directory, "config"), facts) &&
           !is_there(join_path(directory, "hooks"), facts);
}

class PartsSearch {
  public:
    PartsSearch(const PathFacts& facts, std::size_t& entries, std::size_t most)
        : facts_(facts), entries_(entries), most_(most) {}

    GitParts run(const std::string& git) {
        for_directories(join_path(git, "worktrees"), found_.worktrees, found_.links);
        std::vector<std::string> ahead;
        for_directories(join_path(git, "modules"), ahead, found_.modules);
        for (const std::string& worktree : found_.worktrees)
            for_directories(join_path(worktree, "modules"), ahead, found_.modules);
        while (!ahead.empty() && entries_ <= most_) {
            const std::string here = std::move(ahead.back());
            ahead.pop_back();
            std::vector<std::string> below;
            for_directories(here, below, found_.modules);
            const bool is_repository = is_surely_repository(here, facts_);
            for (std::string& next : below)
                if (is_repository && is_store(next, facts_))
                    search_store(std::move(next), ahead);
                else
                    ahead.push_back(std::move(next));
            found_.modules.push_back(here);
        }
        return std::move(found_);
    }

  private:
    /// Thousands of directories without hooks and settings; but what a command made look like a repository may have real
    /// ones in what only looks like its store.
    void search_store(std::string store, std::vector<std::string>& repositories) {
        std::vector<std::string> ahead{std::move(store)};
        while (!ahead.empty() && entries_ <= most_) {
            const std::string here = std::move(ahead.back());
            ahead.pop_back();
            const std::size_t before = entries_;
            std::vector<std::string> below;
            std::vector<std::string> links;  // git makes none there
            for_directories(here, below, links);
            entries_ = before + below.size();  // objects and references are no names that could be denied
            for (std::string& next : below)
                (has_settings(next, facts_) ? repositories : ahead).push_back(std::move(next));
        }
    }

    /// `links`: those of directories.
    void for_directories(const std::string& directory, std::vector<std::string>& found,
                         std::vector<std::string>& links) {
        if (facts_.look(directory).kind == PathKind::symlink) return found_.links.push_back(directory);
        const DirectoryListing listing = list_surely(facts_, directory);
        if (listing.error) found_.unsearched.push_back({directory, listing.error});
        entries_ += listing.entries.size();
        for (const DirectoryEntry& entry : listing.entries) {
            std::string path = join_path(directory, entry.name);
            if (entry.kind == PathKind::symlink && leads_to_directory(path))
                links.push_back(std::move(path));
            else if (entry.kind == PathKind::directory)
                found.push_back(std::move(path));
        }
    }

    [[nodiscard]] bool leads_to_directory(const std::string& link) const {
        return resolve_path(link, facts_).fact.kind == PathKind::directory;
    }

    const PathFacts& facts_;
    std::size_t& entries_;
    std::size_t most_;
    GitParts found_;
};

}  // namespace

GitParts find_git_parts(const std::string& git, const PathFacts& facts, std::size_t& entries, std::size_t most) {
    return PartsSearch(facts, entries, most).run(git);
}

bool is_git_repository(const std::string& directory, const PathFacts& facts) {
    return is_no_directory(join_path(directory, "HEAD"), facts) &&
           is_no_directory(join_path(directory, "config"), facts) &&
           facts.look(join_path(directory, "objects")).kind == PathKind::directory;
}

std::string git_common_directory(const std::string& git, const PathFacts& facts) {
    std::string path = facts.text(join_path(git, "commondir"));
    path.erase(std::min(path.find('\n'), path.size()));
    if (path.empty()) return {};
    return resolve_path(path.front() == '/' ? path : join_path(git, path), facts).place;
}

}  // namespace sandpipe
