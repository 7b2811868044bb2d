#pragma once

#include <sandpipe/unique_fd.hpp>

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "wire/access_rules.hpp"

namespace sandpipe::launcher {

/// Tells what the host makes or moves to names that a denying glob matches (inotify(7)), so that a command's
/// start costs one system call and not a search. Directories of which the kernel will not take any more
/// watches are searched each time instead. Single-threaded.
class GlobWatch {
  public:
    /// `rules` must outlive it.
    void start(const wire::AccessRules& rules);

    using Found = std::function<void(const std::string& path)>;
    /// Calls `found` for every name that matches and may be new since the last call; the first time for all
    /// that exist.
    void take(const Found& found);

  private:
    struct Reach {
        bool matches = false;  // some glob denies this name
        bool deeper = false;   // or may deny one below it
    };
    [[nodiscard]] Reach reach_of(const std::string& path) const;
    void search_all(const Found& found);
    void search(std::string place, const Found& found);
    void watch(const std::string& directory);
    using News = std::map<std::string, bool>;  // what has come: whether it was a directory
    [[nodiscard]] bool drain(const Found& found);
    [[nodiscard]] bool take_events(News& news);
    [[nodiscard]] bool add_events(const char* bytes, std::size_t size, News& news);

    const wire::AccessRules* rules_ = nullptr;
    std::vector<wire::AccessRule> globs_;
    std::vector<std::string> missing_;  // places of globs that could not be watched
    unique_fd events_;                  // invalid: search each time
    std::unordered_map<int, std::string> directories_;
    bool searched_ = false;
};

}  // namespace sandpipe::launcher
