#include "launcher/paths/glob_watch.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "launcher/kernel/mounts.hpp"
#include "launcher/paths/resolve.hpp"
#include "sys/directory.hpp"
#include "wire/glob.hpp"

namespace sandpipe::launcher {
namespace {

using wire::Access;
using wire::AccessRule;

bool is_dots(std::string_view name) { return name == "." || name == ".."; }

/// The session has its own of these.
bool is_own_tree(std::string_view path) { return path == "/proc" || path == "/dev" || path == "/sys"; }

/// Null where it is none any more: a link that came in its place, or on the way, would lead the search elsewhere.
sys::Directory open_directory(const std::string& path) {
    unique_fd place;
    if (open_place(path, place) < 0) return nullptr;
    const int fd = ::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sys::Directory directory(fd < 0 ? nullptr : ::fdopendir(fd));
    if (fd >= 0 && !directory) ::close(fd);
    return directory;
}

}  // namespace

void GlobWatch::start(const wire::AccessRules& rules) {
    rules_ = &rules;
    for (AccessRule& rule : rules.all())
        if (!rule.glob.empty()) globs_.push_back(std::move(rule));
    if (!globs_.empty()) events_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
}

void GlobWatch::take(const Found& found) {
    if (globs_.empty()) return;
    const bool complete = searched_ && events_ && drain(found);
    if (!complete) return search_all(found);
    for (const std::string& place : std::exchange(missing_, {})) search(place, found);
}

void GlobWatch::search_all(const Found& found) {
    searched_ = true;
    missing_.clear();
    for (std::size_t i = 0; i < globs_.size(); ++i)
        if (i == 0 || globs_[i].place != globs_[i - 1].place) search(globs_[i].place, found);
}

GlobWatch::Reach GlobWatch::reach_of(const std::string& path) const {
    Reach reach;
    for (const AccessRule& rule : globs_) {
        if (!wire::holds(rule.place, path)) continue;
        const std::string_view below = wire::relative_to(rule.place, path);
        const wire::GlobMatch match = wire::match_glob(rule.glob, below);
        const bool matches = match.matched == below.size() && !below.empty();
        reach.matches = reach.matches || matches;
        // As when the session is planned: what covers a match covers all below it, unless a rule lifts it there.
        const bool lifted = rule.access == Access::deny_read && rules_->read(path).allowed;
        reach.deeper = reach.deeper || (match.open && (!matches || lifted));
    }
    return reach;
}

/// Watches before it looks, so that nothing comes between.
void GlobWatch::search(std::string place, const Found& found) {
    std::vector<std::string> ahead{std::move(place)};
    while (!ahead.empty()) {
        const std::string here = std::move(ahead.back());
        ahead.pop_back();
        watch(here);
        const sys::Directory directory = open_directory(here);
        while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
            if (is_dots(entry->d_name)) continue;
            std::string path = join(here, entry->d_name);
            const Reach reach = reach_of(path);
            if (reach.matches) found(path);
            if (reach.deeper && !is_own_tree(path) && sys::is_directory(directory.get(), *entry, false))
                ahead.push_back(std::move(path));
        }
    }
}

void GlobWatch::watch(const std::string& directory) {
    if (!events_) return;
    const int number = ::inotify_add_watch(events_.get(), directory.c_str(),
                                           IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
    if (number >= 0) {
        directories_[number] = directory;
    } else if (errno == ENOENT || errno == ENOTDIR) {
        const auto is_place = [&](const AccessRule& rule) { return rule.place == directory; };
        if (std::any_of(globs_.begin(), globs_.end(), is_place)) missing_.push_back(directory);
    } else if (errno != EACCES) {
        events_.reset();  // ENOSPC: fs.inotify.max_user_watches is reached
        directories_.clear();
    }
}

/// False when the kernel dropped events. Who renames something for ever makes events faster than they can be looked at:
/// names are looked at once for all that happened to them, and what comes after some rounds is for the next time.
bool GlobWatch::drain(const Found& found) {
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
        News news;
        if (!take_events(news)) return false;
        if (news.empty()) return true;
        for (const auto& [path, is_directory] : news) {
            const Reach reach = reach_of(path);
            if (reach.matches) found(path);
            // It may be an old one with a new name, and so may all below it.
            if (reach.deeper && is_directory) search(path, found);
        }
        if (!events_) return false;
    }
    return true;
}

bool GlobWatch::take_events(News& news) {
    constexpr int kMostReads = 64;
    alignas(inotify_event) char bytes[16 * 1024];
    for (int reads = 0; reads < kMostReads; ++reads) {
        const ssize_t size = ::read(events_.get(), bytes, sizeof bytes);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return errno == EAGAIN;
        if (!add_events(bytes, static_cast<std::size_t>(size), news)) return false;
    }
    return true;
}

bool GlobWatch::add_events(const char* bytes, std::size_t size, News& news) {
    for (std::size_t at = 0; at + sizeof(inotify_event) <= size;) {
        inotify_event event{};
        std::memcpy(&event, bytes + at, sizeof event);
        const char* name = bytes + at + sizeof event;
        at += sizeof event + event.len;
        if (event.mask & IN_Q_OVERFLOW) return false;
        const auto directory = directories_.find(event.wd);
        if (directory == directories_.end()) continue;
        if (event.mask & IN_IGNORED) {
            directories_.erase(directory);
            continue;
        }
        bool& is_directory = news[join(directory->second, name)];
        is_directory = is_directory || (event.mask & IN_ISDIR) != 0;
    }
    return true;
}

}  // namespace sandpipe::launcher
