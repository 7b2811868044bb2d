#include "sandbox/policy/resolved_path.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>

namespace sandpipe {
namespace {

constexpr std::size_t kMaxLinks = 40;  // path_resolution(7)

/// The walk along one path, a name at a time. It stands at `at_`.
class PathWalk {
  public:
    PathWalk(std::string_view start, std::string_view path, const PathFacts& facts, const MaySearch& may_search)
        : facts_(facts), may_search_(may_search) {
        at_ = {std::string(start), {PathKind::directory, 0, 1}, {}};
        push(path);
    }

    ResolvedPath to_the_end() {
        while (!ahead_.empty()) {
            if (may_search_ && !may_search_(at_.place)) {
                cut_off();
                break;
            }
            const std::string name = std::move(ahead_.back());
            ahead_.pop_back();
            step(name);
        }
        std::sort(at_.passed.begin(), at_.passed.end());
        at_.passed.erase(std::unique(at_.passed.begin(), at_.passed.end()), at_.passed.end());
        return std::move(at_);
    }

  private:
    // The names of `path` come next, before what was ahead until now.
    void push(std::string_view path) {
        const std::size_t old_size = ahead_.size();
        while (!path.empty()) {
            const std::string_view name = path.substr(0, path.find('/'));
            if (!name.empty() && name != ".") ahead_.emplace_back(name);
            path.remove_prefix(std::min(path.size(), name.size() + 1));
        }
        std::reverse(ahead_.begin() + static_cast<std::ptrdiff_t>(old_size), ahead_.end());
    }

    void cut_off() {
        for (; !ahead_.empty() && ahead_.back() != ".."; ahead_.pop_back())
            at_.place = join_path(at_.place, ahead_.back());
        at_.fact = {PathKind::unreachable, EACCES, 1, 0, 0};
    }

    void step(const std::string& name) {
        if (name == "..") {
            step_up();
        } else if (at_.fact.kind != PathKind::directory) {
            step_into_nothing(name);
        } else {
            step_down(join_path(at_.place, name));
        }
    }

    void step_up() {
        // What will once stand at a missing name may be a link, and ".." would lead elsewhere then.
        if (at_.fact.kind != PathKind::directory)
            at_.passed.push_back(at_.fact.exists() ? at_.place : first_missing_);
        at_.place = parent_path(at_.place);
        at_.fact = facts_.look(at_.place);
    }

    void step_into_nothing(const std::string& name) {
        at_.place = join_path(at_.place, name);
        // Below a file there is nothing; below the unreachable nobody knows.
        if (at_.fact.kind != PathKind::unreachable) stand_at_missing({});
    }

    void step_down(std::string next) {
        const PathFact fact = facts_.look(next);
        if (fact.kind == PathKind::symlink) return follow(std::move(next));
        at_.place = std::move(next);
        at_.fact = fact;
        if (!fact.exists()) stand_at_missing(fact);
    }

    void stand_at_missing(const PathFact& fact) {
        if (first_missing_.empty() || !at_.place.starts_with(first_missing_ + "/"))
            first_missing_ = at_.place;
        at_.fact = fact;
    }

    void follow(std::string link) {
        const std::string target = facts_.link_target(link);
        at_.passed.push_back(link);
        if (target.empty() || links_ == kMaxLinks) {
            // Nobody gets beyond it: the link is all that there is to speak about.
            ahead_.clear();
            at_.place = std::move(link);
            return stand_at_missing({PathKind::unreachable, target.empty() ? ENOENT : ELOOP, 1});
        }
        ++links_;
        if (target.front() == '/') at_.place = "/";
        push(target);
    }

    const PathFacts& facts_;
    const MaySearch& may_search_;
    ResolvedPath at_;
    std::vector<std::string> ahead_;  // the next name is the last
    std::string first_missing_;
    std::size_t links_ = 0;
};

}  // namespace

ResolvedPath resolve_path(std::string_view absolute, const PathFacts& facts) {
    return resolve_path(absolute, facts, nullptr);
}

ResolvedPath resolve_path(std::string_view absolute, const PathFacts& facts, const MaySearch& may_search) {
    return PathWalk("/", absolute, facts, may_search).to_the_end();
}

ResolvedPath resolve_below(std::string_view directory, std::string_view rest, const PathFacts& facts) {
    const MaySearch everywhere;
    return PathWalk(directory, rest, facts, everywhere).to_the_end();
}

std::string join_path(std::string_view directory, std::string_view name) {
    std::string path(directory);
    if (!path.ends_with('/')) path += '/';
    return path.append(name);
}

std::string_view parent_path(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return path.substr(0, slash == 0 ? 1 : slash);
}

std::string_view nameable_path(std::string_view path) noexcept {
    while (path.size() >= PATH_MAX) path = parent_path(path);
    return path;
}

std::string_view last_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

}  // namespace sandpipe
