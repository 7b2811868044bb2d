#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "process/session.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe {

/// Where the host may open `path` (absolute) as a standard stream of a command. A link in one of `trees`, where
/// commands write, may be one that an earlier command made to be followed: it may lead to what the rules let a
/// command read, or write, in that tree, and nowhere else.
[[nodiscard]] detail::StreamPlace find_stream_place(std::string_view path, bool writes,
                                                    const wire::AccessRules& rules,
                                                    const std::vector<std::string>& trees, const PathFacts& facts);

/// The same on this machine, for a session with these rules. `trees`: CompiledPolicy::written.
[[nodiscard]] std::shared_ptr<const detail::StreamPlaces> session_stream_places(
    std::shared_ptr<const wire::AccessRules> rules, std::vector<std::string> trees);

}  // namespace sandpipe
