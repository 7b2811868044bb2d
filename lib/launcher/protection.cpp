#include "protection.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "launcher/file_view.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe::launcher {
namespace {

using wire::Access;
using wire::AccessRule;
using wire::AccessRules;

// The mode of a mask through which granted places can be reached.
constexpr mode_t kMaskWithHoles = 0111;

bool inside_writable(const AccessRules& rules, const std::string& place) {
    bool inside = false;
    rules.visit_above(place, [&](const AccessRule& rule) { inside = inside || rule.access == Access::allow_write; });
    return inside;
}

bool grants_below(const AccessRules& rules, const std::string& place) {
    bool grants = false;
    rules.visit_below(place, [&](const AccessRule& rule) { grants = grants || rule.access == Access::allow_read; });
    return grants;
}

}  // namespace

Outcome Protection::prepare(const wire::SessionPlan& plan, const Masks& masks) {
    masks_ = &masks;
    if (!plan.filesystem_enforced) return {};
    struct stat mask {};
    if (::fstat(masks.file.get(), &mask) < 0) return fail(Stage::mounts, errno, "mask");
    mask_device_ = mask.st_dev;
    for (const AccessRule& rule : plan.rules.all()) {
        if (!rule.glob.empty()) continue;
        if (rule.access == Access::deny_read)
            places_.push_back({rule.place, Cover::mask, grants_below(plan.rules, rule.place)});
        // Elsewhere everything is read-only anyway.
        if (rule.access == Access::deny_write && inside_writable(plan.rules, rule.place))
            places_.push_back({rule.place, Cover::read_only, false});
    }
    return {};
}

Protection::Renewal Protection::renew() const {
    Renewal renewal;
    for (const Place& place : places_) {
        State state = State::missing;
        int error = look(place, state);
        // What a link protects is the link, and that is the supervisor's part; a denied read that has become one
        // leads to a place that nobody judged.
        if (state == State::link) error = place.cover == Cover::mask ? -ELOOP : 0;
        if (state == State::bare) {
            error = cover_again(place);
            renewal.renewed = true;
        }
        if (error == 0) continue;
        renewal.failure = fail(Stage::mounts, -error, place.path);
        return renewal;
    }
    return renewal;
}

int Protection::look(const Place& place, State& state) const {
    struct stat found {};
    if (::lstat(place.path.c_str(), &found) < 0) return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
    state = S_ISLNK(found.st_mode) ? State::link : State::bare;
    if (state == State::link) return 0;
    if (found.st_dev == mask_device_) {
        state = State::covered;
        return 0;
    }
    struct statfs mount {};
    if (::statfs(place.path.c_str(), &mount) < 0) return errno == ENOENT ? 0 : -errno;
    const bool read_only = (static_cast<unsigned long>(mount.f_flags) & ST_RDONLY) != 0;
    const bool holed = mount.f_type == TMPFS_MAGIC && (found.st_mode & 07777) == kMaskWithHoles;
    if (read_only && (place.cover == Cover::read_only || (place.has_holes && holed))) state = State::covered;
    return 0;
}

int Protection::cover_again(const Place& place) const {
    // What was granted below it has no mount any more: only a new session can lay that out.
    if (place.has_holes) return -ESTALE;
    const int error = place.cover == Cover::mask ? put_mask(*masks_, place.path) : bind_read_only(place.path);
    return error == -ENOENT ? 0 : error;  // gone again
}

}  // namespace sandpipe::launcher
