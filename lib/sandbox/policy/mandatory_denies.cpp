#include "sandbox/policy/mandatory_denies.hpp"

#include <sandpipe/error.hpp>

#include <cerrno>
#include <system_error>

#include "sandbox/policy/git_parts.hpp"
#include "sandbox/policy/git_worktree.hpp"
#include "sandbox/policy/resolved_path.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe {
namespace {

// About two seconds of searching on a local disk.
constexpr std::size_t kMaxEntries = 2'000'000;
// Whether something is there or not: each has a rule, which each command's start looks at again.
constexpr std::size_t kMaxPlaces = 100'000;
// Directories that cannot be searched are named up to here, and then counted: a command may have made any number.
constexpr std::size_t kMostNamed = 10;
constexpr const char* kUnsearched = "a directory that cannot be searched for always denied names";

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
    MandatorySearch(const std::vector<std::string>& roots, const FilesystemPolicy& policy, const PathFacts& facts,
                    const std::vector<std::string>& passed_over)
        : roots_(roots),
          passed_over_(passed_over),
          names_(names_in_force(policy)),
          allow_init_(policy.allow_git_init),
          facts_(facts) {}

    MandatoryPlaces all() {
        for (const std::string& root : roots_) {
            deny_around(root);
            const PathFact fact = facts_.look(root);
            if (fact.exists() && fact.kind != PathKind::directory) continue;
            deny_at_root(root);
            if (fact.exists() && !names_.empty()) search(root);
        }
        // There may be a pointer to a repository which does not stand in a `.git`.
        if (unsearched_ > 0)
            for (const std::string& directory : likely_repositories_) deny_names_of_git(directory, names_);
        if (unsearched_ > kMostNamed)
            found_.warnings.push_back("nothing can be written in " + std::to_string(unsearched_ - kMostNamed) +
                                      " more directories that cannot be searched for always denied names");
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
                if (wire::holds(path, root) || wire::holds(root, path)) deny(above, name, rule_text(name));
            }
        }
        if (last_name(root) == kGit) deny_in_git(root);
    }

    void deny_at_root(const std::string& root) {
        for (const std::string_view name : names_)
            if (first_name(name) != kGit) deny(root, name, rule_text(name));
        deny_git(root);
    }

    void search(const std::string& root) {
        std::vector<std::string> ahead{root};
        while (!ahead.empty()) {
            const std::string directory = std::move(ahead.back());
            ahead.pop_back();
            const DirectoryListing listing = list_surely(facts_, directory);
            if (listing.error) deny_unsearched(directory, listing.error);
            for (const DirectoryEntry& entry : listing.entries) visit(root, directory, entry, ahead);
            if (signs_of_repository(listing.entries) > 1) likely_repositories_.push_back(directory);
        }
    }

    static std::size_t signs_of_repository(const std::vector<DirectoryEntry>& entries) {
        std::size_t signs = 0;
        for (const DirectoryEntry& entry : entries) {
            const bool is_directory = entry.kind == PathKind::directory;
            const bool is_sign = is_directory
                                     ? entry.name == "objects" || entry.name == "refs" || entry.name == "hooks"
                                     : entry.name == "HEAD" || entry.name == "config";
            signs += is_sign ? 1 : 0;
        }
        return signs;
    }

    void visit(const std::string& root, const std::string& directory, const DirectoryEntry& entry,
               std::vector<std::string>& ahead) {
        if (++entries_ > kMaxEntries) refuse(root);
        bool is_denied = entry.name == kGit;
        if (is_denied) deny_git(directory);
        for (const std::string_view name : names_) {
            if (first_name(name) != entry.name || entry.name == kGit) continue;
            deny(directory, name, rule_text(name));
            is_denied = is_denied || name == entry.name;
        }
        if (entry.kind != PathKind::directory || is_denied || entry.name == "node_modules") return;
        std::string next = join_path(directory, entry.name);
        // A root within a root has a search of its own.
        if (!is_one_of(roots_, next) && !is_one_of(passed_over_, next)) ahead.push_back(std::move(next));
    }

    static bool is_one_of(const std::vector<std::string>& places, const std::string& place) {
        return std::find(places.begin(), places.end(), place) != places.end();
    }

    // Hooks and settings of a repository; the pointer of a linked one; and where there is none, all of it,
    // because a new repository would bring its own hooks and settings.
    void deny_git(const std::string& directory) {
        const std::string git = join_path(directory, kGit);
        const ResolvedPath path = resolve_below(directory, kGit, facts_);
        if (path.fact.kind == PathKind::directory) {
            if (path.passed.empty() || may_mean_repository(directory, path.place))
                return deny_repository(git, path.place);
            if (!denies_any_of_git()) return;
            deny(directory, kGit, ".git (always denied)");
            found_.places.back().only_link = true;
            return;
        }
        if (path.fact.exists()) deny_pointed_at(directory);
        const bool any = denies_any_of_git();
        const bool is_free = path.fact.kind == PathKind::missing && path.passed.empty();
        if (any && is_free && allow_init_)
            allow_init(git);
        else if (any)
            deny(directory, kGit,
                 path.fact.exists() ? ".git (always denied)" : ".git (always denied without allowGitInit)");
    }

    /// The repository that a `.git` of a file leads to has its hooks and settings there.
    void deny_pointed_at(const std::string& directory) {
        const std::string repository = git_pointer_target(directory, facts_);
        if (repository.empty() || facts_.look(repository).kind != PathKind::directory) return;
        if (!may_mean_repository(directory, repository)) return;
        deny_repository(repository, repository);
    }

    /// What a link or pointer in `directory` leads to. Below a root a command may have made that, and led it to any
    /// directory. Whatever git made has one of these files, and no command can take them away.
    [[nodiscard]] bool may_mean_repository(const std::string& directory, const std::string& place) const {
        const auto is_file = [&](std::string_view name) {
            const PathKind kind = facts_.look(join_path(place, name)).kind;
            return kind != PathKind::missing && kind != PathKind::directory;
        };
        return is_one_of(roots_, directory) || is_file("config") || is_file("commondir");
    }

    /// What cannot be looked at now would be open once a command has given itself the right to enter.
    void deny_repository(const std::string& git, const std::string& place) {
        const PathFact head = facts_.look(join_path(place, "HEAD"));
        if (head.kind == PathKind::unreachable) return deny_unsearched(git, head.error);
        deny_names_of_git(git, names_);
        deny_in_git(place);
        // Hooks and settings of a linked worktree are those of its repository, which need not be a `.git`.
        const std::string common = git_common_directory(place, facts_);
        if (common.empty() || common == place || facts_.look(common).kind != PathKind::directory) return;
        deny_names_of_git(common, names_);
        deny_in_git(common);
    }

    void allow_init(const std::string& git) {
        found_.new_repositories.push_back({git, ".git (allowGitInit: only as a new directory)", 0, false});
        deny_names_of_git(git, names_);
        for (MandatoryPlace& place : found_.places)
            place.until_made = place.until_made || place.path == git + "/hooks" || place.path == git + "/config";
    }

    /// Repositories of submodules, and what other worktrees have of their own.
    void deny_in_git(const std::string& git) {
        if (!denies_any_of_git()) return;
        deny_missing_modules(git);
        const GitParts parts = find_git_parts(git, facts_, entries_, kMaxEntries);
        if (entries_ > kMaxEntries) refuse(git);
        for (const std::string& worktree : parts.worktrees) {
            deny_names_of_git(worktree, {".git/config.worktree", ".git/commondir"});
            deny_missing_modules(worktree);
        }
        for (const std::string& module : parts.modules) deny_names_of_git(module, names_, true);
        for (const std::string& link : parts.links)
            deny(parent_path(link), last_name(link),
                 ".git/" + std::string(last_name(link)) + " (always denied as a link)");
        for (const UnsearchedDirectory& directory : parts.unsearched)
            deny_unsearched(directory.path, directory.error);
    }

    /// Where no submodule is initialized, git on the host would take for its repository, and run the hooks of, what stands
    /// there once it is.
    void deny_missing_modules(const std::string& git) {
        if (facts_.look(join_path(git, "modules")).kind == PathKind::missing)
            deny(git, "modules", ".git/modules (always denied where there are none)");
    }

    /// Those of `names` that are in force and about a repository, in this one. `in_modules`: they may also be names of
    /// submodules, whose repositories are found by themselves.
    void deny_names_of_git(const std::string& repository, const std::vector<std::string_view>& names,
                           bool in_modules = false) {
        for (const std::string_view name : names) {
            const bool in_force = std::find(names_.begin(), names_.end(), name) != names_.end();
            if (!in_force || first_name(name) != kGit) continue;
            const std::string_view part = name.substr(kGit.size() + 1);
            if (in_modules && is_git_repository(join_path(repository, part), facts_)) continue;
            deny(parent_path(repository), join_path(last_name(repository), part), rule_text(name));
        }
    }

    [[nodiscard]] bool denies_any_of_git() const {
        return std::any_of(names_.begin(), names_.end(),
                           [](std::string_view name) { return first_name(name) == kGit; });
    }

    /// Whoever owns it can give himself the rights that were missing now (chmod(2)), and nothing in it would be
    /// covered.
    void deny_unsearched(const std::string& directory, int error) {
        const std::string place(nameable_path(directory));
        if (++unsearched_ <= kMostNamed)
            found_.warnings.push_back(
                "nothing in " + place +
                " can be written, because it cannot be searched for always denied names: " +
                std::generic_category().message(error) + (error == EACCES ? "; chmod u+rx would help" : ""));
        deny(parent_path(place), last_name(place), kUnsearched);
    }

    /// `directory` is resolved.
    void deny(std::string_view directory, std::string_view rest, std::string text) {
        found_.places.push_back({join_path(directory, rest), std::move(text), directory.size(), false, false});
        if (found_.places.size() > kMaxPlaces) refuse_places();
    }

    [[noreturn]] void refuse_places() const {
        throw Error(Errc::invalid_sandbox_config,
                    "filesystem.allowWrite grants more than " + std::to_string(kMaxPlaces) +
                        " places of names that are always denied, such as " + found_.places.back().path +
                        "; grant smaller directories, or lift the names by filesystem.mandatoryDenyExcept");
    }

    [[noreturn]] static void refuse(const std::string& root) {
        throw Error(Errc::invalid_sandbox_config,
                    "filesystem.allowWrite grants what is in " + root + ", which has more than " +
                        std::to_string(kMaxEntries) +
                        " entries to search for always denied names; grant a smaller directory");
    }

    const std::vector<std::string>& roots_;
    const std::vector<std::string>& passed_over_;
    std::vector<std::string_view> names_;
    bool allow_init_;
    const PathFacts& facts_;
    MandatoryPlaces found_;
    std::size_t entries_ = 0;
    std::size_t unsearched_ = 0;
    std::vector<std::string> likely_repositories_;
};

}  // namespace

MandatoryPlaces find_mandatory_denies(const std::vector<std::string>& roots, const FilesystemPolicy& policy,
                                      const PathFacts& facts, const std::vector<std::string>& passed_over) {
    return MandatorySearch(roots, policy, facts, passed_over).all();
}

}  // namespace sandpipe
