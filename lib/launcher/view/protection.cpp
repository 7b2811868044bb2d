#include "launcher/view/protection.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "launcher/kernel/directory_of.hpp"
#include "launcher/kernel/mounts.hpp"
#include "launcher/view/covers.hpp"
#include "wire/access_rules.hpp"
#include "wire/needed_places.hpp"

namespace sandpipe::launcher {
namespace {

using wire::Access;
using wire::AccessRule;
using wire::AccessRules;

// statx(2), since Linux 6.8: a number that no later mount gets. What is not known by it is looked at each time.
constexpr unsigned kStatxMountIdUnique = 0x4000;
constexpr unsigned kFields = STATX_TYPE | STATX_MODE | kStatxMountIdUnique;
// The mode of a mask through which granted places can be reached.
constexpr mode_t kMaskWithHoles = 0111;

bool grants_below(const AccessRules& rules, const std::string& place) {
    bool grants = false;
    rules.visit_below(place,
                      [&](const AccessRule& rule) { grants = grants || rule.access == Access::allow_read; });
    return grants;
}

bool is_allowed_by_name(const AccessRules& rules, const std::string& place) {
    bool allowed = false;
    rules.visit_above(place, [&](const AccessRule& rule) {
        allowed = allowed || (rule.access == Access::allow_read && rule.place == place && !rule.expanded);
    });
    return allowed;
}

/// Nobody gets to what has such a path: links without an end, which a command may have made, or a longer name than
/// system calls take.
bool is_no_path(int error) { return error == ELOOP || error == ENAMETOOLONG; }

/// What this cell cannot get to its commands cannot either: they have the same user and fewer rights. Should that
/// change, the next command's start finds it.
bool is_out_of_reach(int error) { return error == ENOENT || error == ENOTDIR || error == EACCES || is_no_path(error); }

bool is_link(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
}

bool is_directory(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

/// Where a link leads; empty if to nothing, or to what no rule can be about.
std::string resolved(const std::string& link) {
    const std::unique_ptr<char, decltype(&::free)> place(::realpath(link.c_str(), nullptr), &::free);
    if (!place || wire::holds("/proc", place.get()) || wire::holds("/dev", place.get())) return {};
    return place.get();
}

}  // namespace

Outcome Protection::prepare(const wire::SessionPlan& plan, const Masks& masks) {
    masks_ = &masks;
    if (!plan.filesystem_enforced) return {};
    struct stat mask {};
    if (::fstat(masks.file.get(), &mask) < 0) return fail(Stage::mounts, errno, "mask");
    mask_device_ = mask.st_dev;
    for (const AccessRule& rule : plan.rules.all()) {
        if (!rule.glob.empty() || rule.expanded) continue;
        if (rule.access == Access::deny_read)
            places_.push_back({rule.place, Cover::mask, grants_below(plan.rules, rule.place)});
        // Elsewhere everything is read-only anyway.
        if (wire::denies_write(rule.access) && plan.rules.in_root(rule.place))
            places_.push_back({rule.place, Cover::read_only, false});
        if (rule.access == Access::new_repository)
            places_.push_back({rule.place, Cover::read_only_file, false});
    }
    const auto shares = [](const Place& one, const Place& other) {
        return directory_of(one.path) == directory_of(other.path);
    };
    for (std::size_t i = 1; i < places_.size(); ++i)
        if (shares(places_[i - 1], places_[i])) places_[i - 1].shares = places_[i].shares = true;
    rules_ = &plan.rules;
    granted_ = plan.rules.writable_roots();
    granted_.insert(granted_.end(), {plan.workspace, "/proc", "/dev"});
    globs_.start(plan.rules);
    return renew().failure;
}

Protection::Renewal Protection::renew() {
    Renewal renewal;
    for (Place& place : places_) check(place, renewal);
    directory_.reset();
    directory_path_.clear();
    globs_.take([&](const std::string& path) { check_match(path, renewal); });
    return renewal;
}

/// Whoever exchanges what stands there for ever, between any two looks, would keep every session from starting; but
/// each look has its chance.
void Protection::check(Place& place, Renewal& renewal) {
    constexpr int kMostTries = 200;
    constexpr timespec kPause{0, 500'000};
    if (renewal.failure) return;
    int error = settle(place, renewal);
    for (int tries = 1; error == -ESTALE && tries < kMostTries; ++tries) {
        ::nanosleep(&kPause, nullptr);
        error = settle(place, renewal);
    }
    if (error < 0) renewal.failure = fail(Stage::mounts, -error, place.path);
}

/// -ESTALE: it was exchanged meanwhile, and nobody knows what stands there now.
int Protection::settle(Place& place, Renewal& renewal) {
    State state = State::missing;
    int error = look(place, state);
    if (error < 0 || state == State::missing || state == State::covered) return error;
    const bool follows = place.cover == Cover::mask;
    if (state == State::bare) {
        const bool is_repository = place.cover == Cover::read_only_file && is_directory(place.path);
        if (is_repository) return 0;
        error = cover_again(place);
        renewal.renewed = renewal.renewed || error == 0;
    }
    // What a link keeps from being written is the link, and that is the supervisor's part.
    const bool is_link = state == State::link || error == -ELOOP;
    if (is_link) return follows ? follow(place, renewal) : 0;
    return is_out_of_reach(-error) ? 0 : error;  // gone again
}

/// A denied read that has become a link, or is behind one: what it leads to is meant.
int Protection::follow(const Place& link, Renewal& renewal) {
    const std::string target = resolved(link.path);
    if (target.empty() || target == "/") return 0;
    if (link.has_holes) return -ESTALE;
    // As when the session was planned: who allows this very place means it, and a link does not take away what the
    // session is for.
    if (link.is_match && is_allowed_by_name(*rules_, target)) return 0;
    const bool takes_programs = link.is_match ? wire::touches_programs(target) : wire::holds_programs(target);
    if (takes_programs && is_granted(link.path)) return 0;
    Place place{target, Cover::mask, grants_below(*rules_, target)};
    if (holds_granted(target) && (link.is_match || !place.has_holes)) return 0;
    State state = State::missing;
    int error = look(place, state);
    if (error < 0 || state == State::covered) return error;
    if (state != State::bare) return -ESTALE;
    error = cover_again(place);
    renewal.renewed = renewal.renewed || error == 0;
    return is_out_of_reach(-error) ? -ESTALE : error;
}

void Protection::check_match(const std::string& path, Renewal& renewal) {
    const bool readable = rules_->read(path).allowed;
    if (readable && rules_->write(path).error != EACCES) return;
    Place match{path, readable ? Cover::read_only : Cover::mask, !readable && grants_below(*rules_, path)};
    match.is_match = true;
    if (readable && is_link(path)) {
        match.path = resolved(path);
        if (match.path.empty() || holds_granted(match.path)) return;
    }
    if (!readable || rules_->in_root(match.path)) check(match, renewal);
}

bool Protection::is_granted(const std::string& place) const {
    return std::any_of(granted_.begin(), granted_.end(),
                       [&](const std::string& granted) { return wire::holds(granted, place); });
}

bool Protection::holds_granted(const std::string& place) const {
    return std::any_of(granted_.begin(), granted_.end(),
                       [&](const std::string& granted) { return wire::holds(place, granted); });
}

/// As lstat.
int Protection::stat_place(const Place& place, struct statx& found) {
    constexpr int kFlags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    const std::string_view above = directory_of(place.path);
    if (place.shares && (!directory_ || above != directory_path_)) {
        directory_path_ = above;
        directory_.reset();
        if (const int error = open_place(directory_path_, directory_); error < 0) return error;
    }
    const std::size_t name = above.size() > 1 ? above.size() + 1 : 1;
    const int result = place.shares ? ::statx(directory_.get(), place.path.c_str() + name, kFlags, kFields, &found)
                                    : ::statx(AT_FDCWD, place.path.c_str(), kFlags, kFields, &found);
    return result < 0 ? -errno : 0;
}

int Protection::look(Place& place, State& state) {
    state = State::missing;
    struct statx found {};
    const int error = stat_place(place, found);
    if (error == -ELOOP || (error == 0 && S_ISLNK(found.stx_mode))) {
        state = State::link;
        return 0;
    }
    if (error < 0) return is_out_of_reach(-error) ? 0 : error;
    // A mount stands at one place: where it is seen, it covers as it did when it was looked at.
    const bool seen = place.mount != 0 && found.stx_mnt_id == place.mount;
    if (!seen && !is_mask(found)) return look_closely(place, state);
    state = State::covered;
    return 0;
}

bool Protection::is_mask(const struct statx& found) const {
    return ::makedev(found.stx_dev_major, found.stx_dev_minor) == mask_device_;
}

/// At what stands there at one moment: by its name the next call may find something else.
int Protection::look_closely(Place& place, State& state) {
    unique_fd object;
    struct statx found {};
    struct statfs mount {};
    const int error = open_place(place.path, object);
    if (error == -ELOOP) state = State::link;
    if (error < 0) return is_out_of_reach(-error) ? 0 : error;
    if (::statx(object.get(), "", AT_EMPTY_PATH, kFields, &found) < 0) return -errno;
    if (::fstatfs(object.get(), &mount) < 0) return -errno;
    const bool read_only = (static_cast<unsigned long>(mount.f_flags) & ST_RDONLY) != 0;
    const bool holed = mount.f_type == TMPFS_MAGIC && (found.stx_mode & 07777) == kMaskWithHoles;
    const bool covered = read_only && (place.cover != Cover::mask || (place.has_holes && holed));
    state = covered || is_mask(found) ? State::covered : State::bare;
    if (covered) place.mount = found.stx_mask & kStatxMountIdUnique ? found.stx_mnt_id : 0;
    return 0;
}

int Protection::cover_again(const Place& place) const {
    // What was granted below it has no mount any more: only a new session can lay that out.
    if (place.has_holes) return -ESTALE;
    return place.cover == Cover::mask ? put_mask(*masks_, place.path) : bind_read_only(place.path);
}

}  // namespace sandpipe::launcher
