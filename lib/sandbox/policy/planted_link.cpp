#include "sandbox/policy/planted_link.hpp"

#include "wire/access_rules.hpp"

namespace sandpipe {

std::string planted_link(const ResolvedPath& path, const std::vector<std::string>& trees) {
    for (const std::string& link : path.passed)
        for (const std::string& tree : trees)
            if (wire::holds(tree, link) && !wire::holds(tree, path.place)) return link;
    return {};
}

std::string written_link(const ResolvedPath& path, const std::vector<std::string>& trees) {
    for (const std::string& link : path.passed)
        for (const std::string& tree : trees)
            if (wire::holds(tree, link)) return link;
    return {};
}

}  // namespace sandpipe
