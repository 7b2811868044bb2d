#include "sandbox/policy/policy_entries.hpp"

#include <sandpipe/error.hpp>

#include <utility>

#include "sandbox/policy/path_pattern.hpp"
#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {
namespace {

bool stands_in_workspace(std::string_view path) {
    return !path.starts_with('/') && path != "~" && !path.starts_with("~/");
}

/// Takes "/name" off the beginning, however many slashes and dots stand there.
bool take_name(std::string_view& rest, std::string_view name) {
    std::string_view after = rest;
    while (after.starts_with("//") || after.starts_with("/./")) after.remove_prefix(after.find('/', 1));
    if (!after.starts_with('/') || !after.substr(1).starts_with(name)) return false;
    after.remove_prefix(1 + name.size());
    if (!after.empty() && !after.starts_with('/')) return false;
    rest = after;
    return true;
}

/// What a command calls its cwd leads, for this process, to the host's.
bool take_own_cwd(std::string_view& path) {
    std::string_view rest = path;
    const bool own = take_name(rest, "proc") && (take_name(rest, "self") || take_name(rest, "thread-self"));
    if (!own || !take_name(rest, "cwd")) return false;
    path = rest;
    return true;
}

PolicyEntry entry_of(const std::string& key, std::size_t index, const PathPattern& pattern,
                     const std::string& path, const PathBase& base) {
    PolicyEntry entry;
    entry.where = "filesystem." + key + "[" + std::to_string(index) + "]";
    entry.rule = key + " " + pattern.path;
    entry.absolute = absolute_path(path, base.workspace, base.home, entry.where);
    entry.path = resolve_path(entry.absolute, base.facts);
    std::string_view rest = path;
    if (stands_in_workspace(path) || take_own_cwd(rest))
        entry.path.passed.insert(entry.path.passed.begin(), base.passed.begin(), base.passed.end());
    return entry;
}

}  // namespace

std::vector<PolicyEntry> entries_of(const std::string& key, const std::vector<PathPattern>& patterns,
                                    const PathBase& base) {
    std::vector<PolicyEntry> entries;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        SplitPattern split = split_pattern(patterns[i]);
        entries.push_back(entry_of(key, i, patterns[i], split.path, base));
        if (split.glob.empty()) continue;
        PolicyEntry as_written = entry_of(key, i, patterns[i], split.path + "/" + split.glob, base);
        entries.back().glob = std::move(split.glob);
        if (as_written.path.fact.exists()) entries.push_back(std::move(as_written));
    }
    return entries;
}

std::string absolute_path(std::string_view path, std::string_view workspace, std::string_view home,
                          std::string_view key) {
    if (take_own_cwd(path)) return std::string(workspace) + std::string(path);
    if (path.starts_with('/')) return std::string(path);
    if (stands_in_workspace(path)) return join_path(workspace, path);
    if (!home.starts_with('/'))
        throw Error(Errc::invalid_sandbox_config, std::string(key) + ": \"" + std::string(path) +
                                                      "\" needs a home directory, and there is none");
    return std::string(home) + std::string(path.substr(1));
}

}  // namespace sandpipe
