#pragma once

#include <string>
#include <vector>

#include "wire/session_plan.hpp"

namespace sandpipe {

/// What a weaker session lacks with this, and why, in a sentence.
[[nodiscard]] std::string describe(const wire::GivenUp& given_up);
/// A sentence for each.
[[nodiscard]] std::vector<std::string> describe(const std::vector<wire::GivenUp>& given_up);

}  // namespace sandpipe
