#include "launcher/glob_watch.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "launcher/resolve.hpp"
#include "sys/directory.hpp"
#include "wire/glob.hpp"

namespace sandpipe::launcher {
namespace {

using wire::Access;
using wire::AccessRule;

bool is_dots(std::string_view name) { return name == "." || name == ".."; }

/// The session has its own of these.
bool is_own_tree(std::string_view path) { return path == "/proc" || path == "/dev" || path == "/sys"; }

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
        const sys::Directory directory(::opendir(here.c_str()));
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

/// False when the kernel dropped events.
bool GlobWatch::drain(const Found& found) {
    alignas(inotify_event) char bytes[16 * 1024];
    for (;;) {
        const ssize_t size = ::read(events_.get(), bytes, sizeof bytes);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return errno == EAGAIN;
        if (!take_events(bytes, static_cast<std::size_t>(size), found)) return false;
        if (!events_) return false;
    }
}

bool GlobWatch::take_events(const char* bytes, std::size_t size, const Found& found) {
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
        const std::string path = join(directory->second, name);
        const Reach reach = reach_of(path);
        if (reach.matches) found(path);
        // It may be an old one with a new name, and so may all below it.
        if (reach.deeper && (event.mask & IN_ISDIR)) search(path, found);
    }
    return true;
}

}  // namespace sandpipe::launcher
