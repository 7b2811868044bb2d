#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/resource.h>

#include "launcher/cell/cell_setup.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// The life of an init: pid 1 of its namespace, reaper and supervisor of one command after the other, until
/// `socket` (its cell) closes. Its first word there is idle, or the Failure of its set-up. `number` tells the inits of
/// the session apart. Returns an exit status.
[[nodiscard]] int run_init(const wire::SessionPlan& plan, const Confinement& confinement, unique_fd socket,
                           rlimit open_files, std::int64_t number);

}  // namespace sandpipe::launcher
