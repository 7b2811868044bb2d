#pragma once

#include <sandpipe/enforcement_report.hpp>

#include "wire/session_plan.hpp"

namespace sandpipe {

/// What a session enforces: what was planned, by what its cell found on this machine.
[[nodiscard]] EnforcementReport make_report(const wire::EnforcementFacts& facts,
                                            const wire::SessionPlan& plan);

}  // namespace sandpipe
