#pragma once

#include <sandpipe/unique_fd.hpp>

#include <linux/filter.h>

#include <vector>

#include "launcher/cell/namespaces.hpp"
#include "launcher/command/confine.hpp"
#include "launcher/kernel/failure.hpp"
#include "launcher/paths/granted_programs.hpp"
#include "launcher/view/host_tree.hpp"
#include "launcher/view/masks.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// What a cell makes once and each of its inits and commands uses.
struct Confinement {
    unique_fd outer_ruleset;  ///< Landlock domain of the inits; invalid if the plan does not enforce the file
                              ///< system
    unique_fd inner_ruleset;  ///< Landlock domain of the commands, nested in it
    Masks masks;              ///< for the cell, whose mount namespace they belong to
    HostTree host;            ///< for the inits; empty if the plan does not enforce the file system
    GrantedPrograms programs; ///< for the inits
    unique_fd session_file;   ///< a memfd that the session's supervisors lock, and keep its sockets in
    std::vector<sock_filter> filter;  ///< the commands' seccomp program, notifications included
    std::vector<unique_fd> listeners;  ///< of the plan's proxy ports, until the host has them
    bool own_proc = true;             ///< inits mount one; else there is none, and no supervisor either
    wire::EnforcementFacts facts;
};

/// Runs once in the new cell, which has its namespaces and its id maps: lays out the mounts of `plan`, brings
/// up the loopback device, makes the Landlock rulesets and the seccomp program. Leaves the cwd at "/", and no
/// /proc: the masks stand there until an init mounts its own. What the machine refuses fails, or is given up by name
/// where the plan allows that and something else still stands for it.
[[nodiscard]] Outcome set_up_cell(const wire::SessionPlan& plan, const CellNamespaces& namespaces,
                                  Confinement& confinement);

/// For the commands of its inits. It points into the confinement.
[[nodiscard]] ConfineSteps confine_steps(const Confinement& confinement);

/// Runs once in each new init (own pid and mount namespace): mounts its /proc with the host's facts hidden,
/// gives up all capabilities but CAP_SYS_PTRACE, sets no_new_privs, becomes undumpable and enters the outer
/// Landlock domain, in which no mount can be changed any more.
[[nodiscard]] Outcome set_up_init(const wire::SessionPlan& plan, const Confinement& confinement);

}  // namespace sandpipe::launcher
