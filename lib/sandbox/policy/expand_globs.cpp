#include "sandbox/policy/expand_globs.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "sandbox/policy/glob_search.hpp"

namespace sandpipe {
namespace {

using wire::Access;

// Links that a glob matches are named up to here, and then counted: /usr/bin has hundreds.
constexpr std::size_t kMostNamed = 3;

std::vector<GlobQuery> queries_of(Access access, const std::vector<PolicyEntry>& entries) {
    std::vector<GlobQuery> queries;
    for (const PolicyEntry& entry : entries)
        if (!entry.glob.empty()) queries.push_back({access, entry.path.place, entry.glob, entry.where});
    return queries;
}

/// The same item of the list is also a name that exists as it is written.
bool is_named(const PolicyEntry& glob, const std::vector<PolicyEntry>& entries) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const PolicyEntry& entry) { return entry.where == glob.where; });
}

}  // namespace

std::vector<PolicyEntry> without_globs(Access access, std::vector<PolicyEntry> entries, const PathBase& base,
                                       PolicyRules& rules) {
    const auto glob = std::stable_partition(entries.begin(), entries.end(),
                                            [](const PolicyEntry& entry) { return entry.glob.empty(); });
    const std::vector<PolicyEntry> globs(std::make_move_iterator(glob),
                                         std::make_move_iterator(entries.end()));
    entries.erase(glob, entries.end());
    GlobFinds finds = find_globs(queries_of(access, globs), rules.found.rules, base.facts, base.kernel.hidden);
    std::vector<bool> used(globs.size());
    std::vector<std::size_t> links(globs.size());
    for (const GlobFind& name : finds.names) {
        used[name.query] = true;
        PolicyEntry entry = globs[name.query];
        if (name.kind == PathKind::symlink) {
            if (++links[name.query] <= kMostNamed)
                rules.warn(entry.where + ": " + name.path + " is a symbolic link, which no glob grants");
            continue;
        }
        entry.glob.clear();
        entry.expanded = true;
        entry.absolute = name.path;
        entry.path = {name.path, base.facts.look(name.path), entry.path.passed};
        entries.push_back(std::move(entry));
    }
    for (std::size_t i = 0; i < globs.size(); ++i)
        if (!used[i] && !is_named(globs[i], entries)) rules.nothing_found(access, globs[i]);
    for (std::size_t i = 0; i < globs.size(); ++i)
        if (links[i] > kMostNamed)
            rules.warn(globs[i].where + ": " + std::to_string(links[i] - kMostNamed) +
                       " more symbolic links are not granted");
    const std::size_t warnings = rules.warnings.size();
    for (const GlobGap& gap : finds.gaps) rules.warn_of_gap(globs[gap.query], gap);
    rules.fold_warnings(warnings);
    return entries;
}

void deny_globs(Access access, const std::vector<PolicyEntry>& entries, const PathBase& base,
                PolicyRules& rules) {
    std::vector<PolicyEntry> globs;
    for (const PolicyEntry& entry : entries)
        if (!entry.glob.empty()) globs.push_back(entry);
    GlobFinds finds = find_globs(queries_of(access, globs), rules.found.rules, base.facts, base.kernel.hidden);
    const std::size_t before = rules.warnings.size();
    for (const GlobFind& name : finds.names) rules.deny_found(access, globs[name.query], name);
    rules.fold_warnings(before, "names that globs match lead elsewhere, or have other names");
    const std::size_t warnings = rules.warnings.size();
    for (const GlobGap& gap : finds.gaps) rules.deny_gap(access, globs[gap.query], gap);
    rules.fold_warnings(warnings);
}

}  // namespace sandpipe
