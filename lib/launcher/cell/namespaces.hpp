#pragma once

#include <sys/types.h>

#include <vector>

#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// fork with namespaces: the child goes on here with a copy of everything. -errno where there is none.
[[nodiscard]] pid_t fork_into(unsigned long namespaces) noexcept;

/// The namespaces that a cell was made in.
struct CellNamespaces {
    bool user = true;
    bool uts = true;
    std::vector<wire::GivenUp> given_up;
};

/// As `fork_into`, with all that a cell of `plan` needs. Where the plan allows to do without and the machine refuses
/// them all at once, as few as possible are left out: those of host name and System V IPC and, for root, of users.
/// Never those of processes, mounts and network.
[[nodiscard]] pid_t fork_into_cell(const wire::SessionPlan& plan, CellNamespaces& namespaces);

}  // namespace sandpipe::launcher
