#include "sandbox/stream_place.hpp"

#include <algorithm>
#include <utility>

#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/planted_link.hpp"
#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {
namespace {

using detail::StreamPlace;

class SessionStreamPlaces final : public detail::StreamPlaces {
  public:
    SessionStreamPlaces(std::shared_ptr<const wire::AccessRules> rules, std::vector<std::string> trees)
        : rules_(std::move(rules)), trees_(std::move(trees)) {}

    [[nodiscard]] StreamPlace find(const std::string& path, bool writes) const override {
        return find_stream_place(path, writes, *rules_, trees_, HostPathFacts());
    }

  private:
    const std::shared_ptr<const wire::AccessRules> rules_;
    const std::vector<std::string> trees_;
};

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
    const wire::Verdict verdict = writes ? rules.write(found.place) : rules.read(found.place);
    const bool allowed = verdict.allowed && planted_link(found, trees).empty();
    return {std::move(found.place), true, allowed};
}

std::shared_ptr<const detail::StreamPlaces> session_stream_places(std::shared_ptr<const wire::AccessRules> rules,
                                                                   std::vector<std::string> trees) {
    return std::make_shared<const SessionStreamPlaces>(std::move(rules), std::move(trees));
}

}  // namespace sandpipe
