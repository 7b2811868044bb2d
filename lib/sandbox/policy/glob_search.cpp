#include "sandbox/policy/glob_search.hpp"

#include <sandpipe/error.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/resolved_path.hpp"
#include "wire/glob.hpp"

namespace sandpipe {
namespace {

// About two seconds of searching on a local disk.
constexpr std::size_t kMaxEntries = 2'000'000;
// Each is a mount, of which a namespace has at most 100,000 (fs.mount-max in proc(5)).
constexpr std::size_t kMaxFinds = 50'000;

/// The session has its own of these.
bool is_own_tree(std::string_view path) { return path == kDev || path == kProc || path == kSys; }

class GlobSearch {
  public:
    GlobSearch(const std::vector<GlobQuery>& queries, const wire::AccessRules& rules, const PathFacts& facts,
               const std::vector<std::string>& passed_over)
        : queries_(queries), rules_(rules), facts_(facts), passed_over_(passed_over) {}

    GlobFinds all() {
        std::map<std::string_view, std::vector<std::size_t>> by_place;
        for (std::size_t i = 0; i < queries_.size(); ++i) by_place[queries_[i].place].push_back(i);
        for (auto& [place, wanted] : by_place) search(std::string(place), std::move(wanted));
        return std::move(found_);
    }

  private:
    struct Directory {
        std::string path;
        std::vector<std::size_t> wanted;  // the queries that may match in it
    };

    void search(std::string place, std::vector<std::size_t> wanted) {
        if (is_passed_over(place) || facts_.look(place).kind != PathKind::directory) return;
        top_ = place;
        std::vector<Directory> ahead;
        ahead.push_back({std::move(place), std::move(wanted)});
        while (!ahead.empty()) {
            const Directory here = std::move(ahead.back());
            ahead.pop_back();
            const DirectoryListing listing = list_surely(facts_, here.path);
            if (listing.error)
                for (const std::size_t query : here.wanted)
                    found_.gaps.push_back({query, here.path, listing.error});
            for (const DirectoryEntry& entry : listing.entries) visit(here, entry, ahead);
        }
    }

    void visit(const Directory& here, const DirectoryEntry& entry, std::vector<Directory>& ahead) {
        if (++entries_ > kMaxEntries) refuse(here.wanted.front(), "has more than 2000000 entries to search");
        std::string path = join_path(here.path, entry.name);
        std::vector<std::size_t> deeper;
        for (const std::size_t query : here.wanted)
            if (looks_deeper(query, path, entry.kind)) deeper.push_back(query);
        if (deeper.empty() || entry.kind != PathKind::directory || is_own_tree(path) || is_passed_over(path)) return;
        ahead.push_back({std::move(path), std::move(deeper)});
    }

    [[nodiscard]] bool is_passed_over(const std::string& path) const {
        return std::any_of(passed_over_.begin(), passed_over_.end(),
                           [&](const std::string& place) { return wire::holds(place, path); });
    }

    bool looks_deeper(std::size_t query, const std::string& path, PathKind kind) {
        const std::string_view below = wire::relative_to(top_, path);
        const wire::GlobMatch match = wire::match_glob(queries_[query].glob, below);
        if (match.matched != below.size()) return match.open;
        if (found_.names.size() == kMaxFinds) refuse(query, "matches more than 50000 names");
        found_.names.push_back({query, path, kind});
        // A literal rule may have lifted it here, and not what it matches below.
        return match.open && queries_[query].access == wire::Access::deny_read && rules_.read(path).allowed;
    }

    [[noreturn]] void refuse(std::size_t query, const std::string& fault) const {
        throw Error(Errc::invalid_sandbox_config, queries_[query].where + ": \"" + queries_[query].glob +
                                                      "\" in " + top_ + " " + fault +
                                                      "; name a smaller directory, or a whole one");
    }

    const std::vector<GlobQuery>& queries_;
    const wire::AccessRules& rules_;
    const PathFacts& facts_;
    const std::vector<std::string>& passed_over_;
    std::string top_;
    GlobFinds found_;
    std::size_t entries_ = 0;
};

}  // namespace

GlobFinds find_globs(const std::vector<GlobQuery>& queries, const wire::AccessRules& rules,
                     const PathFacts& facts, const std::vector<std::string>& passed_over) {
    return GlobSearch(queries, rules, facts, passed_over).all();
}

}  // namespace sandpipe
