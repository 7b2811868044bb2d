#pragma once

#include "launcher/cell/cell_setup.hpp"

namespace sandpipe::launcher {

/// Makes the two rulesets of a session from where its plan lets it write. The outer one, for the inits, has
/// every right to change there; the inner one, for the commands, only the rights to write what exists: names
/// are made and removed by the init's supervisor on a command's behalf. Where `confinement.facts` say that there is no
/// supervisor, both have every right. Needs a version of at least 1.
[[nodiscard]] Outcome make_rulesets(const wire::SessionPlan& plan, Confinement& confinement);

}  // namespace sandpipe::launcher
