#pragma once

#include <string_view>

#include "launcher/paths/resolve.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe::launcher {

/// Whether the directory `spot`, once it stands at `place`, would have something below it that the glob of
/// `rule` matches. What cannot be looked at counts, and so does more than a hundred thousand entries.
[[nodiscard]] bool brings_match(const Spot& spot, const wire::AccessRule& rule, std::string_view place);

}  // namespace sandpipe::launcher
