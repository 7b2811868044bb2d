#include "compile.hpp"

#include <sandpipe/error.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include "check_supported.hpp"
#include "mount_layout.hpp"
#include "own_places.hpp"
#include "policy_rules.hpp"
#include "resolved_path.hpp"
#include "wire/proxy_ports.hpp"

// From a policy to a plan, in three steps:
//
//   1. Every path becomes the place that it leads to (resolved_path.hpp).
//   2. Every list becomes rules: what may or may not be done at a place and below (policy_rules.hpp, and
//      wire/access_rules.hpp, which judges by them). What no policy has to say is added: the mandatory
//      denies, the workspace, the session's own /tmp and /dev.
//   3. The rules become mounts (mount_layout.hpp). Wherever they say something else about a place than
//      about what surrounds it, and something exists there, a mount makes it true. What does not exist has
//      its rule only: the supervisor refuses to make it, and the host's tree stays as it is.
//
// The supervisor judges by the rules that the mounts were made from, so what it says and what the kernel does
// are one thing. Nothing here depends on the order in which a list was written.

namespace sandpipe {
namespace {

using wire::Access;

/// What the paths of a policy are relative to.
struct PathBase {
    std::string workspace;
    std::string_view home;
    const PathFacts& facts;
};

template <typename T>
void sort_unique(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Commands start here, so it has to be there, and what a session has of its own would cover it.
std::string resolve_workspace(std::string_view workspace, const PathFacts& facts) {
    const auto refuse = [&](const std::string& text) {
        throw Error(Errc::invalid_sandbox_config, "the workspace \"" + std::string(workspace) + "\" " + text);
    };
    if (!workspace.starts_with('/')) refuse("is not absolute");
    ResolvedPath path = resolve_path(workspace, facts);
    if (path.fact.kind != PathKind::directory) refuse("is not an existing directory");
    if (wire::holds(kDev, path.place) || wire::holds(kProc, path.place))
        refuse("is in " + path.place + ", and a session has its own /dev and /proc");
    return std::move(path.place);
}

std::string resolve_tmp(const PathFacts& facts) {
    ResolvedPath tmp = resolve_path(kTmp, facts);
    if (tmp.fact.kind != PathKind::directory || tmp.place == "/" || wire::holds(kDev, tmp.place))
        throw Error(
            Errc::sandbox_unsupported_env,
            "/tmp leads to " + tmp.place + ", which is no directory that a session can have its own of");
    return std::move(tmp.place);
}

/// The entries of one list, resolved.
std::vector<PolicyEntry> entries_of(const std::string& key, const std::vector<PathPattern>& patterns,
                                    const PathBase& base) {
    std::vector<PolicyEntry> entries;
    for (const PathPattern& pattern : patterns) {
        PolicyEntry& entry = entries.emplace_back();
        entry.where = "filesystem." + key + "[" + std::to_string(entries.size() - 1) + "]";
        entry.rule = key + " " + pattern.path;
        entry.absolute = absolute_path(plain_path(pattern), base.workspace, base.home, entry.where);
        entry.path = resolve_path(entry.absolute, base.facts);
    }
    return entries;
}

PolicyRules rules_of(const FilesystemPolicy& policy, const PathBase& base) {
    PolicyRules rules(policy, base.facts);
    const std::vector<PathPattern> devices(policy.devices.begin(), policy.devices.end());
    for (const PolicyEntry& entry : entries_of("devices", devices, base)) rules.grant_device(entry);
    for (const PolicyEntry& entry : entries_of("allowWrite", policy.allow_write, base))
        rules.allow_write(entry);
    for (const PolicyEntry& entry : entries_of("allowRead", policy.allow_read, base)) rules.allow_read(entry);
    for (const PolicyEntry& entry : entries_of("denyRead", policy.deny_read, base)) rules.deny_read(entry);
    for (const PolicyEntry& entry : entries_of("denyWrite", policy.deny_write, base)) rules.deny_write(entry);
    rules.deny_mandatory();
    return rules;
}

/// A workspace in the host's /tmp is shown though nobody granted it, unless the policy denies it.
void show_workspace(const std::string& workspace, PolicyRules& rules) {
    MountInput& found = rules.found;
    const View view = view_of(found, workspace);
    if (view == View::own_tmp && workspace != found.tmp) {
        found.rules.rules.push_back({Access::allow_read, workspace, "the workspace"});
        found.places[workspace] = true;
    }
    if (view == View::masked)
        rules.warn("no command can start in the workspace " + workspace + ": " +
                   found.rules.read(workspace).rule + " denies it; allowRead would lift that");
}

/// So that the order of the lists shows nowhere, not even in the words of a denial.
void sort_rules(std::vector<wire::AccessRule>& rules) {
    const auto key = [](const wire::AccessRule& rule) {
        return std::tie(rule.place, rule.access, rule.text);
    };
    const auto before = [&](const auto& a, const auto& b) { return key(a) < key(b); };
    const auto same = [&](const auto& a, const auto& b) { return key(a) == key(b); };
    std::sort(rules.begin(), rules.end(), before);
    rules.erase(std::unique(rules.begin(), rules.end(), same), rules.end());
}

/// Only allowRead lifts a denyRead, and nothing lifts a denyWrite.
void warn_of_void_grants(PolicyRules& rules) {
    for (const wire::AccessRule& rule : rules.found.rules.rules) {
        if (rule.access != Access::allow_write) continue;
        const wire::Verdict verdict = rules.found.rules.write(rule.place);
        if (!verdict.allowed) rules.warn(rule.text + " grants nothing: " + verdict.rule + " prevails");
    }
}

/// After the mounts are laid out, for these are no rules about the host's files.
void add_own_places(PolicyRules& rules) {
    MountInput& found = rules.found;
    const auto add = [&](std::string_view place, const char* text) {
        found.rules.rules.push_back({Access::private_write, std::string(place), text});
    };
    if (view_of(found, found.tmp) == View::own_tmp) add(found.tmp, "the session's own /tmp");
    for (const std::string_view device : kOwnDevices) add(device, "the session's own /dev");
    for (const std::string& device : found.devices) add(device, "devices");
    if (!found.rules.write(found.tmp).allowed)
        rules.warn("the policy leaves no " + found.tmp + " to write in; TMPDIR has to name another place");
}

void compile_filesystem(const SandboxPolicy& policy, const PathBase& base, CompiledPolicy& result) {
    PolicyRules rules = rules_of(policy.filesystem, base);
    rules.found.tmp = resolve_tmp(base.facts);
    rules.found.tmp_bytes = policy.limits.tmp_bytes;
    sort_unique(rules.found.devices);
    show_workspace(base.workspace, rules);
    sort_rules(rules.found.rules.rules);
    warn_of_void_grants(rules);
    result.plan.mounts = lay_out_mounts(rules.found);
    add_own_places(rules);
    result.plan.rules = std::move(rules.found.rules);
    result.warnings = std::move(rules.warnings);
    result.create_directories = std::move(rules.create_directories);
}

void compile_network(const NetworkPolicy& policy, CompiledPolicy& result) {
    result.plan.own_network = !policy.disabled;
    result.domains = DomainRules(policy);
    if (!result.domains.empty()) result.plan.proxy_ports = {wire::kHttpProxyPort, wire::kSocksProxyPort};
    for (std::string& warning : result.domains.warnings()) result.warnings.push_back(std::move(warning));
}

}  // namespace

CompiledPolicy compile(const SandboxPolicy& policy, std::string_view workspace, std::string_view home,
                       const PathFacts& facts) {
    check_supported(policy);
    const PathBase base{resolve_workspace(workspace, facts), home, facts};
    CompiledPolicy result;
    result.plan.workspace = base.workspace;
    result.plan.filesystem_enforced = !policy.filesystem.disabled;
    result.plan.rules.enabled = !policy.filesystem.disabled;
    if (!policy.filesystem.disabled) compile_filesystem(policy, base, result);
    compile_network(policy.network, result);
    for (const PolicyEntry& entry :
         entries_of("gitSafeDirectories", policy.filesystem.git_safe_directories, base))
        result.git_safe_directories.push_back(entry.path.place);
    sort_unique(result.git_safe_directories);
    sort_unique(result.create_directories);
    sort_unique(result.warnings);
    return result;
}

std::string absolute_path(std::string_view path, std::string_view workspace, std::string_view home,
                          std::string_view key) {
    if (path.starts_with('/')) return std::string(path);
    if (path != "~" && !path.starts_with("~/")) return join_path(workspace, path);
    if (!home.starts_with('/'))
        throw Error(Errc::invalid_sandbox_config, std::string(key) + ": \"" + std::string(path) +
                                                      "\" needs a home directory, and there is none");
    return std::string(home) + std::string(path.substr(1));
}

}  // namespace sandpipe
