#include "mandatory_denies.hpp"

#include <sandpipe/error.hpp>

#include <system_error>

#include "git_worktree.hpp"
#include "resolved_path.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe {
namespace {

// About two seconds of searching on a local disk.
constexpr std::size_t kMaxEntries = 2'000'000;

constexpr std::string_view kGit = ".git";

std::string_view first_name(std::string_view name) { return name.substr(0, name.find('/')); }

bool is_git_config(std::string_view name) { return name == ".git/config" || name == ".git/config.worktree"; }

std::vector<std::string_view> names_in_force(const FilesystemPolicy& policy) {
    std::vector<std::string_view> names;
    for (const std::string_view name : kMandatoryDenies) {
        const auto& except = policy.mandatory_deny_except;
        const bool lifted = std::find(except.begin(), except.end(), name) != except.end();
        if (!lifted && !(is_git_config(name) && policy.allow_git_config)) names.push_back(name);
    }
    return names;
}

std::string rule_text(std::string_view name) {
    return std::string(name) +
           (is_git_config(name) ? " (always denied without allowGitConfig)" : " (always denied)");
}

class MandatorySearch {
  public:
    MandatorySearch(const std::vector<std::string>& roots, const FilesystemPolicy& policy,
                    const PathFacts& facts)
        : roots_(roots), names_(names_in_force(policy)), allow_init_(policy.allow_git_init), facts_(facts) {}

    MandatoryPlaces all() {
        for (const std::string& root : roots_) {
            deny_around(root);
            const PathFact fact = facts_.look(root);
            if (fact.exists() && fact.kind != PathKind::directory) continue;
            deny_at_root(root);
            if (fact.exists()) search(root);
        }
        return std::move(found_);
    }

  private:
    // A root that is or lies in a denied place, such as ~/.vscode, or that has half of its name, such as
    // /w/.git.
    void deny_around(const std::string& root) {
        for (std::string_view above = root; above != "/";) {
            above = parent_path(above);
            for (const std::string_view name : names_) {
                const std::string path = join_path(above, name);
                if (wire::holds(path, root) || wire::holds(root, path)) deny(path, rule_text(name));
            }
        }
        if (last_name(root) == kGit) deny_in_git(root);
    }

    void deny_at_root(const std::string& root) {
        for (const std::string_view name : names_)
            if (first_name(name) != kGit) deny(join_path(root, name), rule_text(name));
        deny_git(root);
    }

    void search(const std::string& root) {
        std::vector<std::string> ahead{root};
        while (!ahead.empty()) {
            const std::string directory = std::move(ahead.back());
            ahead.pop_back();
            const DirectoryListing listing = facts_.list(directory);
            if (listing.error) found_.warnings.push_back(unsearched(directory, listing.error));
            for (const DirectoryEntry& entry : listing.entries) visit(root, directory, entry, ahead);
        }
    }

    void visit(const std::string& root, const std::string& directory, const DirectoryEntry& entry,
               std::vector<std::string>& ahead) {
        if (++entries_ > kMaxEntries) refuse(root);
        bool is_denied = entry.name == kGit;
        if (is_denied) deny_git(directory);
        for (const std::string_view name : names_) {
            if (first_name(name) != entry.name || entry.name == kGit) continue;
            deny(join_path(directory, name), rule_text(name));
            is_denied = is_denied || name == entry.name;
        }
        if (entry.kind != PathKind::directory || is_denied || entry.name == "node_modules") return;
        std::string next = join_path(directory, entry.name);
        // A root within a root has a search of its own.
        if (std::find(roots_.begin(), roots_.end(), next) == roots_.end()) ahead.push_back(std::move(next));
    }

    // Hooks and settings of a repository; the pointer of a linked one; and where there is none, all of it,
    // because a new repository would bring its own hooks and settings.
    void deny_git(const std::string& directory) {
        const std::string git = join_path(directory, kGit);
        const ResolvedPath path = resolve_path(git, facts_);
        if (path.fact.kind == PathKind::directory) {
            deny_names_of_git(git, names_);
            return deny_in_git(path.place);
        }
        if (path.fact.exists()) deny_pointed_at(directory);
        const bool any = std::any_of(names_.begin(), names_.end(),
                                     [](std::string_view name) { return first_name(name) == kGit; });
        const bool is_free = path.fact.kind == PathKind::missing && path.passed.empty();
        if (any && is_free && allow_init_)
            allow_init(git);
        else if (any)
            deny(git,
                 path.fact.exists() ? ".git (always denied)" : ".git (always denied without allowGitInit)");
    }

    /// The repository that a `.git` of a file leads to has its hooks and settings there.
    void deny_pointed_at(const std::string& directory) {
        const std::string repository = git_pointer_target(directory, facts_);
        if (repository.empty() || facts_.look(repository).kind != PathKind::directory) return;
        deny_names_of_git(repository, names_);
        deny_in_git(repository);
    }

    void allow_init(const std::string& git) {
        found_.new_repositories.push_back({git, ".git (allowGitInit: only as a new directory)"});
        deny_names_of_git(git, names_);
        for (MandatoryPlace& place : found_.places)
            place.until_made = place.until_made || place.path == git + "/hooks" || place.path == git + "/config";
    }

    /// Repositories of submodules, whose names may have slashes, and what other worktrees have of their own.
    /// What a command adds later is its own.
    void deny_in_git(const std::string& git) {
        for (const DirectoryEntry& entry : facts_.list(join_path(git, "worktrees")).entries) {
            const std::string worktree = join_path(join_path(git, "worktrees"), entry.name);
            deny_names_of_git(worktree, {".git/config.worktree", ".git/commondir"});
        }
        std::vector<std::string> ahead{join_path(git, "modules")};
        while (!ahead.empty()) {
            const std::string here = std::move(ahead.back());
            ahead.pop_back();
            if (facts_.look(join_path(here, "HEAD")).exists()) {
                deny_names_of_git(here, names_);
                ahead.push_back(join_path(here, "modules"));
                continue;
            }
            for (const DirectoryEntry& entry : facts_.list(here).entries)
                if (entry.kind == PathKind::directory) ahead.push_back(join_path(here, entry.name));
        }
    }

    /// Those of `names` that are in force and about a repository, in this one.
    void deny_names_of_git(const std::string& repository, const std::vector<std::string_view>& names) {
        for (const std::string_view name : names) {
            const bool in_force = std::find(names_.begin(), names_.end(), name) != names_.end();
            if (in_force && first_name(name) == kGit)
                deny(join_path(repository, name.substr(kGit.size() + 1)), rule_text(name));
        }
    }

    void deny(std::string path, std::string text) {
        found_.places.push_back({std::move(path), std::move(text)});
    }

    static std::string unsearched(const std::string& directory, int error) {
        return "the always denied names below " + directory +
               " are not protected: " + std::generic_category().message(error);
    }

    [[noreturn]] static void refuse(const std::string& root) {
        throw Error(Errc::invalid_sandbox_config,
                    "filesystem.allowWrite grants " + root + ", which has more than " +
                        std::to_string(kMaxEntries) +
                        " entries to search for always denied names; grant a smaller directory");
    }

    const std::vector<std::string>& roots_;
    std::vector<std::string_view> names_;
    bool allow_init_;
    const PathFacts& facts_;
    MandatoryPlaces found_;
    std::size_t entries_ = 0;
};

}  // namespace

MandatoryPlaces find_mandatory_denies(const std::vector<std::string>& roots, const FilesystemPolicy& policy,
                                      const PathFacts& facts) {
    return MandatorySearch(roots, policy, facts).all();
}

}  // namespace sandpipe
