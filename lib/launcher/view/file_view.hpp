#pragma once

#include "launcher/kernel/failure.hpp"
#include "launcher/view/host_tree.hpp"
#include "launcher/view/masks.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// Lays out a session's view of the file system in the calling process's mount namespace, which is first cut off from
/// the host's: carries out `plan.mounts`, unless the plan does not enforce the file system, and covers /proc with
/// `masks`. Steps below /proc are left to the inits, which mount their own there. `host` is taken before anything is
/// hidden.
[[nodiscard]] Outcome lay_out_files(const wire::SessionPlan& plan, Masks& masks, HostTree& host);

}  // namespace sandpipe::launcher
