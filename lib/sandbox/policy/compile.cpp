#include "sandbox/policy/compile.hpp"

#include <sandpipe/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/escaped.hpp"
#include "sandbox/policy/alias_denials.hpp"
#include "sandbox/policy/check_supported.hpp"
#include "sandbox/policy/execute_rules.hpp"
#include "sandbox/policy/expand_globs.hpp"
#include "sandbox/policy/mount_layout.hpp"
#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/path_pattern.hpp"
#include "sandbox/policy/planted_link.hpp"
#include "sandbox/policy/policy_entries.hpp"
#include "sandbox/policy/policy_rules.hpp"
#include "sandbox/policy/policy_schema.hpp"
#include "sandbox/policy/resolved_path.hpp"
#include "sandbox/policy/restricts_execution.hpp"
#include "sandbox/policy/unix_socket_grants.hpp"
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

// fs.mount-max in proc(5) is 100,000, of which the host has some.
constexpr std::size_t kMostMounts = 90'000;
// tmpfs rounds up to pages, and takes what then has no bits left for "no limit".
constexpr std::uint64_t kMostTmpBytes = std::numeric_limits<std::int64_t>::max();

template <typename T>
void sort_unique(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Commands start here, so it has to be there, and what a session has of its own would cover it.
ResolvedPath resolve_workspace(std::string_view workspace, const PathFacts& facts) {
    const auto refuse = [&](const std::string& text) {
        throw Error(Errc::invalid_sandbox_config, "the workspace \"" + std::string(workspace) + "\" " + text);
    };
    if (!workspace.starts_with('/')) refuse("is not absolute");
    ResolvedPath path = resolve_path(workspace, facts);
    if (path.fact.kind != PathKind::directory) refuse("is not an existing directory");
    if (wire::holds(kDev, path.place) || wire::holds(kProc, path.place))
        refuse("is in " + path.place + ", and a session has its own /dev and /proc; name another");
    return path;
}

std::string resolve_tmp(const PathFacts& facts) {
    ResolvedPath tmp = resolve_path(kTmp, facts);
    const char* what = tmp.fact.exists() ? "no directory that a session can have its own of" : "missing";
    if (tmp.fact.kind != PathKind::directory || tmp.place == "/" || wire::holds(kDev, tmp.place))
        throw Error(Errc::sandbox_unsupported_env,
                    "/tmp leads to " + tmp.place + ", which is " + what + "; make /tmp a directory");
    return std::move(tmp.place);
}

/// A place below that is shown again needs the directory itself as a way to it.
bool is_shown_within(const wire::AccessRules& rules, const std::string& directory) {
    bool shown = false;
    rules.visit_below(directory, [&](const wire::AccessRule& rule) {
        const bool lifts = rule.access == Access::allow_read && rules.read(rule.place).allowed;
        shown = shown || (lifts && !wire::relative_to(directory, rule.place).empty());
    });
    return shown;
}

/// A workspace in the host's /tmp is shown though nobody granted it, unless the policy denies it.
void show_workspace(const std::string& workspace, PolicyRules& rules) {
    MountInput& found = rules.found;
    const View view = view_of(found, workspace);
    if (view == View::own_tmp && workspace != found.tmp) {
        found.rules.add({Access::allow_read, workspace, "the workspace", {}, false});
        found.places[workspace] = true;
    }
    if (view == View::masked && !is_shown_within(found.rules, workspace))
        rules.warn("no command can start in the workspace " + workspace + ": " +
                   found.rules.read(workspace).rule + " denies it; allowRead would lift that");
}

void restrict_execution(const FilesystemPolicy& policy, const PathBase& base, PolicyRules& rules) {
    rules.found.rules.restrict_execute = true;
    std::vector<PolicyEntry> entries = entries_of("allowExecute", policy.allow_execute, base);
    for (const PolicyEntry& entry : without_globs(Access::allow_execute, std::move(entries), base, rules))
        rules.allow_execute(entry);
    if (base.bin_shell.empty()) return;
    PolicyEntry shell;
    shell.where = shell.rule = "binShell";
    shell.absolute = base.bin_shell;
    shell.path = resolve_path(shell.absolute, base.facts);
    rules.allow_execute(shell);
}

void leave_named_kernel_mounts(const FilesystemPolicy& policy, PathBase& base) {
    if (base.kernel.hidden.empty() && base.kernel.read_only.empty()) return;
    const auto names_itself = [&](const PolicyEntry& entry) {
        return entry.glob.empty() && written_link(entry.path, base.written).empty();
    };
    for (const PolicyEntry& entry : entries_of("allowRead", policy.allow_read, base))
        if (names_itself(entry)) base.kernel.allow_read(entry.path.place);
    for (const PolicyEntry& entry : entries_of("allowWrite", policy.allow_write, base))
        if (names_itself(entry)) base.kernel.allow_write(entry.path.place);
}

struct Lists {
    std::vector<PolicyEntry> deny_read;
    std::vector<PolicyEntry> deny_write;
};

/// Returns what is to be granted for reading by links that a command may have made.
std::vector<PolicyEntry> add_grants(const FilesystemPolicy& policy, const PathBase& base, PolicyRules& rules) {
    const auto entries = [&](Access access, const char* key, const std::vector<PathPattern>& list) {
        return without_globs(access, entries_of(key, list, base), base, rules);
    };
    const std::vector<PathPattern> devices(policy.devices.begin(), policy.devices.end());
    for (const PolicyEntry& entry : entries(Access::private_write, "devices", devices)) rules.grant_device(entry);
    for (const PolicyEntry& entry : entries(Access::allow_write, "allowWrite", policy.allow_write))
        rules.allow_write(entry);
    std::vector<PolicyEntry> by_link;
    for (PolicyEntry& entry : entries(Access::allow_read, "allowRead", policy.allow_read)) {
        if (written_link(entry.path, base.written).empty())
            rules.allow_read(entry);
        else
            by_link.push_back(std::move(entry));
    }
    return by_link;
}

PolicyRules rules_of(const FilesystemPolicy& policy, const PathBase& base) {
    PolicyRules rules(policy, base.written, base.wider, base.facts);
    rules.found.tmp = resolve_tmp(base.facts);
    const std::vector<PolicyEntry> by_link = add_grants(policy, base, rules);
    rules.allow_git_worktrees();
    rules.deny_kernel_mounts(base.kernel, base.workspace);
    Lists denied{entries_of("denyRead", policy.deny_read, base), entries_of("denyWrite", policy.deny_write, base)};
    const MountAliases aliases(base.mounts, base.facts);
    for (std::vector<PolicyEntry>* list : {&denied.deny_read, &denied.deny_write})
        add_alias_denials(*list, aliases, base.facts, rules);
    rules.keep_denials();
    rules.allow_read_by_links(by_link, denied.deny_read);
    for (const PolicyEntry& entry : denied.deny_read) rules.deny_read(entry);
    for (const PolicyEntry& entry : denied.deny_write) rules.deny_write(entry);
    rules.deny_mandatory(base.kernel.never_written(), aliases);
    if (restricts_execution(policy)) restrict_execution(policy, base, rules);
    show_workspace(base.workspace, rules);
    deny_globs(Access::deny_read, denied.deny_read, base, rules);
    deny_globs(Access::deny_write, denied.deny_write, base, rules);
    return rules;
}

/// Only allowRead lifts a denyRead, and nothing lifts a denyWrite.
void warn_of_void_grants(PolicyRules& rules) {
    for (const wire::AccessRule& rule : rules.found.rules.all()) {
        if (rule.access != Access::allow_write) continue;
        const wire::Verdict verdict = rules.found.rules.write(rule.place);
        if (!verdict.allowed) rules.warn(rule.text + " grants nothing: " + verdict.rule + " prevails");
    }
}

void check_mounts(const std::vector<wire::MountOp>& mounts) {
    if (mounts.size() > kMostMounts)
        throw Error(Errc::invalid_sandbox_config,
                    "the policy needs " + std::to_string(mounts.size()) + " mounts, of which the kernel allows 100000; "
                    "name smaller or whole directories in filesystem.allowWrite and the denying lists");
}

/// After the mounts are laid out, for these are no rules about the host's files.
void add_own_places(PolicyRules& rules) {
    MountInput& found = rules.found;
    const auto add = [&](std::string_view place, const char* text) {
        found.rules.add({Access::private_write, std::string(place), text, {}, false});
    };
    if (view_of(found, found.tmp) == View::own_tmp) add(found.tmp, "the session's own /tmp");
    for (const std::string_view device : kOwnDevices) add(device, "the session's own /dev");
    for (const std::string& device : found.devices) add(device, "devices");
    if (!found.rules.write(found.tmp).allowed)
        rules.warn("the policy leaves no " + found.tmp + " to write in; TMPDIR has to name another place");
}

void compile_filesystem(const SandboxPolicy& policy, const PathBase& base,
                        const std::vector<PolicyEntry>& sockets, CompiledPolicy& result) {
    PolicyRules rules = rules_of(policy.filesystem, base);
    rules.found.tmp_bytes = std::min(policy.limits.tmp_bytes, kMostTmpBytes);
    sort_unique(rules.found.devices);
    show_unix_sockets(sockets, rules);
    warn_of_void_grants(rules);
    allow_loaders(rules.found.rules, base.facts, rules.warnings);
    result.plan.mounts = lay_out_mounts(rules.found);
    check_mounts(result.plan.mounts);
    forbid_execution(rules.found.rules, result.plan.mounts);
    add_own_places(rules);
    result.devices = rules.found.devices;
    result.tmp = rules.found.tmp;
    result.plan.rules = std::move(rules.found.rules);
    result.warnings.insert(result.warnings.end(), rules.warnings.begin(), rules.warnings.end());
    result.create_directories = std::move(rules.create_directories);
}

/// Whoever wrote rules beside the switch may take them for enforced.
void warn_of_void_rules(const SandboxPolicy& policy, std::vector<std::string>& warnings) {
    std::string keys;
    for (const PolicyKey& key : policy_keys())
        if (key.paths && key.name != "gitSafeDirectories" && !key.paths(policy)->empty())
            keys += (keys.empty() ? "" : ", ") + key.dotted();
    if (!keys.empty()) warnings.push_back("filesystem.disabled is true, so these grant and deny nothing: " + keys);
}

void compile_network(const NetworkPolicy& policy, CompiledPolicy& result) {
    result.plan.own_network = !policy.disabled;
    result.domains = DomainRules(policy);
    if (!result.domains.empty()) result.plan.proxy_ports = {wire::kHttpProxyPort, wire::kSocksProxyPort};
    for (std::string& warning : result.domains.warnings()) result.warnings.push_back(std::move(warning));
}

/// Where commands write, of this session and of those that it comes from.
std::vector<std::string> written_places(const SandboxPolicy& policy, const PathBase& base) {
    std::vector<std::string> written;
    if (base.wider) written = base.wider->written;
    for (const PolicyEntry& root : entries_of("allowWrite", policy.filesystem.allow_write, base))
        written.push_back(root.path.place);
    return written;
}

/// The way to the workspace, as the host names it, may lead through what commands write.
void follow_workspace(const ResolvedPath& path, PathBase& base) {
    if (base.wider && base.wider->plan.workspace != path.place)
        throw Error(Errc::sandbox_policy_conflict, "the workspace " + base.wider->plan.workspace + " leads to " +
                                                       path.place + " now; make a session of its own there");
    if (const std::string link = planted_link(path, base.roots); !link.empty())
        throw Error(Errc::invalid_sandbox_config, "the workspace leads to " + path.place + " by the link " + link +
                                                      ", which a command may have made; name that place itself");
    for (const std::string& link : path.passed)
        if (!written_link({path.place, path.fact, {link}}, base.roots).empty()) base.passed.push_back(link);
}

}  // namespace

CompiledPolicy compile(const SandboxPolicy& policy, std::string_view workspace, std::string_view home,
                       const PathFacts& facts, std::string_view bin_shell, const CompiledPolicy* wider) {
    check_supported(policy);
    const ResolvedPath start = resolve_workspace(workspace, facts);
    PathBase base{start.place, {}, home, bin_shell, facts, {}, {}, {}, {}, wider};
    base.roots = written_places(policy, base);
    follow_workspace(start, base);
    base.written = base.roots;
    base.written.insert(base.written.end(), {base.workspace, resolve_tmp(facts)});
    base.mounts = parse_mount_table(facts.mount_table());
    base.kernel = find_kernel_mounts(base.mounts, facts);
    if (!policy.filesystem.disabled) leave_named_kernel_mounts(policy.filesystem, base);
    CompiledPolicy result;
    result.plan.workspace = base.workspace;
    result.plan.filesystem_enforced = !policy.filesystem.disabled;
    result.plan.rules.enabled = !policy.filesystem.disabled;
    const std::vector<PolicyEntry> sockets =
        unix_sockets_of(policy.network.allow_unix_sockets, base, result.warnings);
    for (const PolicyEntry& entry : sockets) result.plan.unix_sockets.push_back(entry.path.place);
    sort_unique(result.plan.unix_sockets);
    if (policy.filesystem.disabled) {
        result.plan.mounts = mounts_without_rules(base.kernel);
        warn_of_void_rules(policy, result.warnings);
    } else {
        compile_filesystem(policy, base, sockets, result);
    }
    compile_network(policy.network, result);
    result.written = std::move(base.roots);
    result.written.push_back(base.workspace);
    const std::vector<std::string> roots = result.plan.rules.writable_roots();
    result.written.insert(result.written.end(), roots.begin(), roots.end());
    sort_unique(result.written);
    for (const PolicyEntry& entry :
         entries_of("gitSafeDirectories", policy.filesystem.git_safe_directories, base))
        result.git_safe_directories.push_back(entry.path.place);
    sort_unique(result.git_safe_directories);
    sort_unique(result.create_directories);
    for (std::string& warning : result.warnings) warning = detail::one_line(warning);
    sort_unique(result.warnings);
    return result;
}

}  // namespace sandpipe
