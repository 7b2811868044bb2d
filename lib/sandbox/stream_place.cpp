#include "stream_place.hpp"

#include <algorithm>

#include "own_places.hpp"
#include "planted_link.hpp"
#include "resolved_path.hpp"

namespace sandpipe {
namespace {

using detail::StreamPlace;

bool is_in_any(std::string_view place, const std::vector<std::string>& trees) {
    return std::any_of(trees.begin(), trees.end(), [&](const std::string& tree) { return wire::holds(tree, place); });
}

}  // namespace

StreamPlace find_stream_place(std::string_view path, bool writes, const wire::AccessRules& rules,
                              const std::vector<std::string>& trees, const PathFacts& facts) {
    ResolvedPath found = resolve_path(path, facts);
    const bool by_link = std::any_of(found.passed.begin(), found.passed.end(),
                                     [&](const std::string& link) { return is_in_any(link, trees); });
    // What they lead to is no path: a pipe, or a file that was removed.
    const bool may_be_magic = wire::holds(kProc, found.place) || wire::holds(kDev, found.place);
    if (!by_link) return {may_be_magic ? std::string(path) : std::move(found.place), !may_be_magic, true};
    const bool allowed = writes ? rules.write(found.place).allowed : rules.read(found.place).allowed;
    return {std::move(found.place), true, allowed && planted_link(found, trees).empty()};
}

}  // namespace sandpipe
