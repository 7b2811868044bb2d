#include "launcher/view/proc_view.hpp"

#include <linux/mount.h>

#include "launcher/kernel/mounts.hpp"
#include "wire/access_rules.hpp"
#include "wire/hidden_facts.hpp"

namespace sandpipe::launcher {
namespace {

using wire::ProcEntry;
using wire::ProcTreatment;

Outcome proc_failed(int error, std::string_view name) {
    return fail(Stage::mounts, -error, std::string(kProc) + "/" + std::string(name));
}

int make_read_only(int place) {
    unique_fd tree;
    int error = clone_tree(place, tree);
    if (error == 0) error = flag_tree(tree.get(), {MOUNT_ATTR_RDONLY, 0});
    return error == 0 ? attach(tree.get(), place) : error;
}

/// What is not there needs no protection: neither the kernel nor a pid namespace has all of them.
int treat(int proc, const std::string& name, ProcTreatment treatment, const Masks& masks) {
    unique_fd place;
    const int error = open_place_below(proc, name, place);
    if (error < 0) return error == -ENOENT ? 0 : error;
    return treatment == ProcTreatment::hide ? masks.cover(place.get()) : make_read_only(place.get());
}

int carry_out(int proc, const wire::MountOp& op, const Masks& masks) {
    if (!is_possible_in_proc(op)) return -EOPNOTSUPP;
    const bool hidden = op.step == wire::MountStep::mask;
    return treat(proc, std::string(wire::relative_to(kProc, op.path)),
                 hidden ? ProcTreatment::hide : ProcTreatment::read_only, masks);
}

/// The proc mount of this pid namespace, on top of the masks.
Outcome attach_proc(Masks& masks, unique_fd& proc) {
    unique_fd cover;
    int error = open_place(std::string(kProc), cover);
    if (error == 0) error = masks.open(cover.get());
    if (error == 0)
        error = make_filesystem("proc", {}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, proc);
    if (error == 0) error = attach(proc.get(), cover.get());
    return error == 0 ? Outcome{} : fail(Stage::mounts, -error, std::string(kProc));
}

}  // namespace

bool is_in_proc(std::string_view path) { return wire::holds(kProc, path); }

bool is_possible_in_proc(const wire::MountOp& op) {
    const bool known = op.step == wire::MountStep::mask || op.step == wire::MountStep::bind_read_only;
    return known && op.path != kProc;
}

Outcome cover_proc(Masks& masks) {
    unique_fd place;
    int error = open_place(std::string(kProc), place);
    if (error == 0) error = masks.make(place.get());
    return error == 0 ? Outcome{} : fail(Stage::mounts, -error, std::string(kProc));
}

Outcome mount_proc(const wire::SessionPlan& plan) {
    Masks masks;
    unique_fd proc;
    if (Outcome failure = attach_proc(masks, proc)) return failure;
    for (const ProcEntry& entry : wire::kProcEntries)
        if (const int error = treat(proc.get(), entry.name, entry.treatment, masks); error < 0)
            return proc_failed(error, entry.name);
    if (!plan.filesystem_enforced) return {};
    for (const wire::MountOp& op : plan.mounts)
        if (is_in_proc(op.path))
            if (const int error = carry_out(proc.get(), op, masks); error < 0)
                return fail(Stage::mounts, -error, op.path);
    return {};
}

}  // namespace sandpipe::launcher
