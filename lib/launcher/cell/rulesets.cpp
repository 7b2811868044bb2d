#include "launcher/cell/rulesets.hpp"

#include <linux/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "launcher/kernel/directory_of.hpp"
#include "launcher/kernel/landlock.hpp"
#include "launcher/kernel/mounts.hpp"
#include "sys/kernel.hpp"

namespace sandpipe::launcher {
namespace {

// Reading is not handled: what a policy denies there stands below what it allows, which Landlock cannot
// express; masks do it. Executing is, for the commands and where only a list may be executed. Nor is ioctl on
// devices: terminals need it, and the view has no others but granted ones.
constexpr std::uint64_t kWriteExisting = sys::kLandlockWriteFile | sys::kLandlockTruncate;
constexpr std::uint64_t kChangeNames =
    sys::kLandlockRemoveDir | sys::kLandlockRemoveFile | sys::kLandlockMakeChar | sys::kLandlockMakeDir |
    sys::kLandlockMakeReg | sys::kLandlockMakeSock | sys::kLandlockMakeFifo | sys::kLandlockMakeBlock |
    sys::kLandlockMakeSym | sys::kLandlockRefer;
constexpr int kReferAbi = 2;
constexpr int kTruncateAbi = 3;

/// The rights to change that are asked for, of those that a kernel of this version knows. It refuses a ruleset that
/// names others. With the right to truncate every open walks up to the root to find it, those for reading only too.
/// Outside of the roots read-only mounts say the same; within them it is wanted where a command may make a repository, whose
/// files it could empty else.
std::uint64_t handled_rights(const wire::SessionPlan& plan, int abi) {
    std::uint64_t rights = kWriteExisting | kChangeNames;
    if (abi < kReferAbi) rights &= ~sys::kLandlockRefer;
    if (abi < kTruncateAbi || !plan.rules.makes_repositories()) rights &= ~sys::kLandlockTruncate;
    return rights;
}

/// Landlock walks up through mounts: a right at a place is one in all roots below it too.
bool holds_root(const wire::AccessRules& rules, const std::string& place) {
    const std::vector<std::string> roots = rules.writable_roots();
    return std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
        return wire::holds(place, root) || wire::holds(root, place);
    });
}

/// Grants writing at and below `path`; to whoever makes and removes names also that, if `change_names`.
int grant(const wire::SessionPlan& plan, const std::string& path, bool change_names, std::uint64_t handled,
          const Confinement& confinement) {
    unique_fd place;
    if (const int error = open_place(path, place); error < 0) return error;
    struct stat status {};
    if (::fstat(place.get(), &status) < 0) return -errno;
    // A file has no names in it; a rule that grants such rights on one is EINVAL.
    const bool names = change_names && S_ISDIR(status.st_mode);
    const std::uint64_t outer = handled & (names ? kWriteExisting | kChangeNames : kWriteExisting);
    const std::uint64_t inner = confinement.facts.denials ? handled & kWriteExisting : outer;
    const int error = add_rule(confinement.outer_ruleset.get(), place.get(), outer);
    const bool on_behalf = confinement.facts.denials && plan.rules.writes_on_behalf();
    if (on_behalf && holds_root(plan.rules, path)) return error;
    return error == 0 ? add_rule(confinement.inner_ruleset.get(), place.get(), inner) : error;
}

Outcome grant_step(const wire::SessionPlan& plan, const wire::MountOp& op, std::uint64_t handled,
                   const Confinement& confinement) {
    int error = 0;
    std::string path = op.path;
    switch (op.step) {
        case wire::MountStep::place_writable:
        case wire::MountStep::private_tmp:
            error = grant(plan, path, true, handled, confinement);
            break;
        case wire::MountStep::private_dev:
            error = grant(plan, path, false, handled, confinement);
            if (error < 0) break;
            path += "/shm";
            error = grant(plan, path, true, handled, confinement);
            break;
        default:
            break;
    }
    return error == 0 ? Outcome{} : fail(Stage::landlock, -error, path);
}

/// What was removed since the plan was made cannot be executed either.
Outcome grant_execution(const wire::SessionPlan& plan, Confinement& confinement) {
    for (const wire::AccessRule& rule : plan.rules.all()) {
        if (rule.access != wire::Access::allow_execute) continue;
        unique_fd place;
        int error = open_place(rule.place, place);
        if (error == -ENOENT) continue;
        if (error == 0) error = add_rule(confinement.inner_ruleset.get(), place.get(), sys::kLandlockExecute);
        if (error < 0) return fail(Stage::landlock, -error, rule.place);
        // Below a listed directory any file is a program.
        if (!plan.rules.execute(directory_of(rule.place)).allowed) confinement.programs.add(rule.place, place.get());
    }
    return {};
}

/// POSIX message queues are files of a file system that the ipc namespace has. Nothing has to show it, but to Landlock
/// they are writable places like others. Where the kernel has none, or mounts none here, there are none.
int grant_message_queues(const Confinement& confinement) {
    unique_fd queues;
    if (make_filesystem("mqueue", {}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, queues) < 0) return 0;
    const int error = add_rule(confinement.outer_ruleset.get(), queues.get(), sys::kLandlockWriteFile);
    return error == 0 ? add_rule(confinement.inner_ruleset.get(), queues.get(), sys::kLandlockWriteFile) : error;
}

bool has_own_ipc(const Confinement& confinement) {
    const auto& given_up = confinement.facts.given_up;
    return std::none_of(given_up.begin(), given_up.end(),
                        [](const wire::GivenUp& given) { return given.mechanism == "ipc"; });
}

}  // namespace

Outcome make_rulesets(const wire::SessionPlan& plan, Confinement& confinement) {
    const int abi = confinement.facts.landlock_abi;
    const bool restricted = plan.rules.restrict_execute;
    const std::uint64_t rights = handled_rights(plan, abi);
    int error = make_ruleset(abi, rights, confinement.outer_ruleset);
    if (error == 0)
        error = make_ruleset(abi, rights | (restricted ? sys::kLandlockExecute : 0), confinement.inner_ruleset);
    if (error < 0) return fail(Stage::landlock, -error, "landlock_create_ruleset");
    if (has_own_ipc(confinement)) error = grant_message_queues(confinement);
    if (error < 0) return fail(Stage::landlock, -error, "mqueue");
    for (const wire::MountOp& op : plan.mounts)
        if (Outcome failure = grant_step(plan, op, rights, confinement)) return failure;
    return restricted ? grant_execution(plan, confinement) : Outcome{};
}

}  // namespace sandpipe::launcher
