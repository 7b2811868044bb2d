#include "sandbox/policy/git_worktree.hpp"

#include <string_view>

#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {
namespace {

constexpr std::string_view kPointer = "gitdir: ";

std::string_view line_of(std::string_view text) {
    text = text.substr(0, text.find('\n'));
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

/// Where a path that stands in a file of `directory` leads; empty if there is a link on the way.
std::string follow(const std::string& directory, std::string_view path, const PathFacts& facts) {
    if (path.empty()) return {};
    const ResolvedPath found =
        resolve_path(path.front() == '/' ? std::string(path) : join_path(directory, path), facts);
    return found.passed.empty() ? found.place : std::string();
}

class PointerCheck {
  public:
    PointerCheck(const std::string& pointer, const PathFacts& facts) : pointer_(pointer), facts_(facts) {}

    GitWorktree run() {
        found_.linked = true;
        const std::string text = facts_.text(pointer_);
        if (!text.starts_with(kPointer)) return refuse(pointer_ + " has no \"gitdir: \"");
        const std::string own(
            follow(std::string(parent_path(pointer_)), line_of(text).substr(kPointer.size()), facts_));
        if (own.empty() || facts_.look(own).kind != PathKind::directory)
            return refuse(pointer_ + " leads through a symbolic link, or to no directory");
        const std::string worktrees(parent_path(own));
        const std::string common(parent_path(worktrees));
        if (last_name(worktrees) != "worktrees")
            return refuse(own + " is no entry of a repository's worktrees");
        if (points_to(own, "gitdir") != pointer_)
            return refuse(own + "/gitdir does not lead back to " + pointer_);
        if (points_to(own, "commondir") != common)
            return refuse(own + "/commondir does not lead to " + common);
        if (const std::string link = foreign_part(common, own); !link.empty())
            return refuse(link + " is not what git makes");
        found_.common = common;
        for (const DirectoryEntry& entry : facts_.list(worktrees).entries)
            if (entry.name != last_name(own))
                for (const char* name : {"gitdir", "index"})
                    found_.others.push_back(join_path(join_path(worktrees, entry.name), name));
        return std::move(found_);
    }

  private:
    GitWorktree refuse(std::string fault) {
        found_.fault = std::move(fault);
        return std::move(found_);
    }

    [[nodiscard]] std::string points_to(const std::string& directory, const char* name) const {
        const std::string file = join_path(directory, name);
        if (facts_.look(file).kind != PathKind::file) return {};
        return follow(directory, line_of(facts_.text(file)), facts_);
    }

    /// A link in place of a part would turn the grant of the repository into one of another place.
    [[nodiscard]] std::string foreign_part(const std::string& common, const std::string& own) const {
        for (const char* name : {"objects", "refs"})
            if (facts_.look(join_path(common, name)).kind != PathKind::directory)
                return join_path(common, name);
        for (const std::string& directory : {common, own})
            for (const DirectoryEntry& entry : facts_.list(directory).entries)
                if (entry.kind == PathKind::symlink) return join_path(directory, entry.name);
        return facts_.look(join_path(common, "HEAD")).kind == PathKind::file ? std::string()
                                                                             : join_path(common, "HEAD");
    }

    const std::string& pointer_;
    const PathFacts& facts_;
    GitWorktree found_;
};

}  // namespace

std::string git_pointer_target(const std::string& directory, const PathFacts& facts) {
    const std::string text = facts.text(join_path(directory, ".git"));
    if (!text.starts_with(kPointer)) return {};
    const std::string path(line_of(text).substr(kPointer.size()));
    if (path.empty()) return {};
    return resolve_path(path.front() == '/' ? path : join_path(directory, path), facts).place;
}

GitWorktree find_git_worktree(const std::string& directory, const PathFacts& facts) {
    const std::string pointer = join_path(directory, ".git");
    const PathKind kind = facts.look(pointer).kind;
    GitWorktree none;
    if (kind == PathKind::symlink) {
        none.linked = true;
        none.fault = pointer + " is a symbolic link";
    }
    return kind == PathKind::file ? PointerCheck(pointer, facts).run() : none;
}

}  // namespace sandpipe
