#include "sandbox/policy/path_pattern.hpp"

#include <algorithm>
#include <string_view>

#include "wire/glob.hpp"

namespace sandpipe {
namespace {

constexpr std::string_view kAllBelow = "**";

std::string_view without_final_slashes(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return path;
}

/// Cuts off what says "and everything below".
std::string_view without_all_below(std::string_view path) {
    for (;;) {
        path = without_final_slashes(path);
        if (path == kAllBelow) return {};
        if (!path.ends_with("/**")) return path;
        path.remove_suffix(path.size() == 3 ? 2 : 3);  // "/**" is "/"
    }
}

std::string_view take_component(std::string_view& path) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    return name;
}

/// Length of what stands before the component with the first glob.
std::size_t literal_length(std::string_view path) {
    const std::size_t glob = path.find_first_of("*?[");
    if (glob == std::string_view::npos) return path.size();
    const std::size_t slash = path.substr(0, glob).rfind('/');
    return slash == std::string_view::npos ? 0 : slash + 1;
}

bool has_class(std::string_view glob) {
    return glob.find("[:") != std::string_view::npos || glob.find("[.") != std::string_view::npos ||
           glob.find("[=") != std::string_view::npos;
}

bool steps_up(std::string_view glob) {
    while (!glob.empty())
        if (take_component(glob) == "..") return true;
    return false;
}

}  // namespace

SplitPattern split_pattern(const PathPattern& pattern) {
    if (pattern.literal) return {pattern.path, {}};
    const std::string_view path = without_all_below(pattern.path);
    const std::size_t length = literal_length(path);
    SplitPattern split{std::string(without_final_slashes(path.substr(0, length))), {}};
    if (split.path.empty()) split.path = ".";
    for (std::string_view rest = path.substr(length); !rest.empty();) {
        const std::string_view name = take_component(rest);
        if (name.empty() || name == ".") continue;
        if (!split.glob.empty()) split.glob += '/';
        split.glob += name;
    }
    return split;
}

std::string glob_fault(const PathPattern& pattern) {
    const std::string glob = split_pattern(pattern).glob;
    if (steps_up(glob)) return "\"..\" cannot follow a glob";
    if (has_class(glob)) return "a set of characters has no classes; accepted: [abc], [a-z], [!a-z]";
    if (wire::count_components(glob) > wire::kMaxGlobComponents)
        return "a glob has at most " + std::to_string(wire::kMaxGlobComponents) + " components";
    return {};
}

}  // namespace sandpipe
