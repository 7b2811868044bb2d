#pragma once

#include <sys/resource.h>

#include "launcher/kernel/failure.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// Makes a session's cell: a child in namespaces of its own (user, mount, ipc, uts and, unless the plan keeps
/// the host's, net), which then serves `socket` until its host or this process is gone. Returns in the caller
/// only; the cell reports its own set-up over the socket.
[[nodiscard]] Outcome fork_cell(wire::SessionPlan plan, int socket, rlimit open_files);

}  // namespace sandpipe::launcher
