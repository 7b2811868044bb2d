#pragma once

#include <string>
#include <vector>

#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// What of a policy only a supervisor can enforce or provide. `mechanism` is the EnforcementReport's name for it, `key`
/// the policy's.
struct SupervisionNeed {
    std::string mechanism;
    std::string key;
    bool dispensable = true;  ///< a weaker session may go on without it
    friend bool operator==(const SupervisionNeed&, const SupervisionNeed&) = default;
};

/// Empty: mounts, Landlock and the filter alone enforce all of this plan. Pure.
[[nodiscard]] std::vector<SupervisionNeed> supervision_needs(const wire::SessionPlan& plan);

}  // namespace sandpipe::launcher
