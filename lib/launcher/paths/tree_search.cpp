#include "launcher/paths/tree_search.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "sys/directory.hpp"
#include "wire/glob.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMaxEntries = 100'000;

using sys::Directory;

Directory open_directory(int parent, const std::string& name) {
    const int fd = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    Directory directory(fd < 0 ? nullptr : ::fdopendir(fd));
    if (fd >= 0 && !directory) ::close(fd);
    return directory;
}

class TreeSearch {
  public:
    TreeSearch(const wire::AccessRules& rules, const wire::AccessRule& rule) : rules_(rules), rule_(rule) {}

    /// `place` is where the directory `name` of `parent` would stand.
    bool matches_in(int parent, const std::string& name, const std::string& place) {
        const Directory directory = open_directory(parent, name);
        if (!directory) return errno != ENOENT && errno != ENOTDIR;
        errno = 0;
        while (const dirent* entry = ::readdir(directory.get())) {
            const std::string_view text = entry->d_name;
            if (text != "." && text != ".." && is_match(directory.get(), *entry, place)) return true;
            errno = 0;
        }
        return errno != 0;
    }

  private:
    bool is_match(DIR* parent, const dirent& entry, const std::string& above) {
        if (++entries_ > kMaxEntries) return true;
        const std::string place = above + "/" + entry.d_name;
        bool deeper = wire::holds(place, rule_.place);
        if (wire::holds(rule_.place, place)) {
            const std::string_view below = wire::relative_to(rule_.place, place);
            const wire::GlobMatch match = wire::match_glob(rule_.glob, below);
            if (match.matched != wire::GlobMatch::kNone && !below.empty() && !is_lifted(place)) return true;
            deeper = match.open;
        }
        return deeper && sys::is_directory(parent, entry, true) && matches_in(::dirfd(parent), entry.d_name, place);
    }

    /// By a rule that allows it by its name.
    [[nodiscard]] bool is_lifted(const std::string& place) const {
        return rule_.access == wire::Access::deny_read && rules_.read(place).allowed;
    }

    const wire::AccessRules& rules_;
    const wire::AccessRule& rule_;
    std::size_t entries_ = 0;
};

}  // namespace

bool brings_match(const wire::AccessRules& rules, const Spot& spot, const wire::AccessRule& rule,
                  std::string_view place) {
    return TreeSearch(rules, rule).matches_in(spot.directory.get(), spot.name, std::string(place));
}

}  // namespace sandpipe::launcher
