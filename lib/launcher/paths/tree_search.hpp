#pragma once

#include <string_view>

#include "launcher/paths/resolve.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe::launcher {

/// Whether the directory `spot`, once it stands at `place`, would have something below it that the glob of
/// `rule`, one of `rules`, matches and no other lifts. What cannot be looked at counts, and so does more than a
/// hundred thousand entries.
[[nodiscard]] bool brings_match(const wire::AccessRules& rules, const Spot& spot, const wire::AccessRule& rule,
                                std::string_view place);

}  // namespace sandpipe::launcher
