#pragma once

#include <cstdint>

#include "launcher/cell_setup.hpp"

namespace sandpipe::launcher {

/// The version of Landlock that this kernel offers; 0: none.
[[nodiscard]] int landlock_abi() noexcept;

/// Makes the two rulesets of a session from where its plan lets it write. The outer one, for the inits, has
/// every right to change there; the inner one, for the commands, only the rights to write what exists: names
/// are made and removed by the init's supervisor on a command's behalf. Where `confinement.facts` say that there is no
/// supervisor, both have every right. Needs a version of at least 1.
[[nodiscard]] Outcome make_rulesets(const wire::SessionPlan& plan, Confinement& confinement);

/// landlock_restrict_self(2) by a raw system call: 0 or -errno.
[[nodiscard]] int enter_domain(int ruleset) noexcept;

}  // namespace sandpipe::launcher
