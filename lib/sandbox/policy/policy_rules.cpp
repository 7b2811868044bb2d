#include "sandbox/policy/policy_rules.hpp"

#include <sandpipe/error.hpp>

#include <system_error>

#include "sandbox/policy/git_worktree.hpp"
#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/planted_link.hpp"
#include "sandbox/policy/session_bounds.hpp"

namespace sandpipe {
namespace {

using wire::Access;

[[noreturn]] void refuse(const PolicyEntry& entry, const std::string& text) {
    throw Error(Errc::invalid_sandbox_config, entry.where + ": " + text);
}

std::string quoted(const std::string& path) { return "\"" + path + "\""; }

std::string reason_of(const ResolvedPath& path) { return std::generic_category().message(path.fact.error); }

// The kernel's own trees are settings of the machine, and "/" holds them.
void check_can_be_writable(const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    if (wire::holds(kDev, place))
        refuse(entry, place + " is in /dev; grant device nodes by filesystem.devices");
    if (place == "/" || wire::holds(kProc, place) || wire::holds(kSys, place)) {
        const bool is_workspace = entry.rule == "allowWrite .";
        refuse(entry, (is_workspace ? "the workspace " : "") + place +
                          " cannot be made writable; accepted: places other than /, /proc, /sys and below them" +
                          (is_workspace ? ". Name another workspace, or a policy without this entry" : ""));
    }
    if (entry.path.fact.kind == PathKind::unreachable)
        refuse(entry, quoted(entry.absolute) + " cannot be looked at: " + reason_of(entry.path));
}

}  // namespace

void PolicyRules::grant_device(const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    if (place != entry.absolute)
        refuse(entry, quoted(entry.absolute) + " leads to " + place + "; name the node itself");
    if (is_own_device(place)) return;
    if (entry.path.fact.kind == PathKind::directory) return grant_devices_in(entry);
    if (entry.path.fact.kind == PathKind::device) {
        if (!exceeds(Access::private_write, entry)) found.devices.push_back(place);
        return;
    }
    if (!entry.expanded) refuse(entry, quoted(place) + " is not an existing device node");
    warn(entry.where + ": " + place + " is no device node and not granted");
}

void PolicyRules::grant_devices_in(const PolicyEntry& entry) {
    for (const DirectoryEntry& name : facts_.list(entry.path.place).entries) {
        PolicyEntry next = entry;
        next.expanded = true;
        next.absolute = next.path.place = join_path(entry.path.place, name.name);
        next.path.fact.kind = name.kind;
        grant_device(next);
    }
}

void PolicyRules::nothing_found(Access access, const PolicyEntry& glob) {
    const std::string fault = quoted(glob.glob) + " matches nothing in " + glob.path.place;
    if (access == Access::allow_write && policy_.missing_allow_write != MissingAllowWrite::skip)
        refuse(glob, fault + R"(; make what it shall match, or set filesystem.missingAllowWrite to "skip")");
    warn(glob.where + ": " + fault + ", so nothing is granted");
}

bool PolicyRules::exceeds(Access access, const PolicyEntry& entry) {
    if (!wider_ || has_grant(*wider_, access, entry.path.place)) return false;
    if (exceeding_.insert(entry.where).second)
        warn(entry.where + ": " + quoted(entry.absolute) +
             " is not granted: the session that this one comes from has not " + entry.path.place);
    return true;
}

void PolicyRules::allow_write(const PolicyEntry& entry) {
    if (is_standard_stream(entry.absolute) || is_own_device(entry.path.place) || leads_astray(entry)) return;
    check_can_be_writable(entry);
    if (exceeds(Access::allow_write, entry)) return;
    if (!entry.path.fact.exists()) return allow_missing(entry);
    add(Access::allow_write, entry.path, entry.rule, entry.expanded);
}

void PolicyRules::allow_missing(const PolicyEntry& entry) {
    const std::string missing = quoted(entry.absolute) + " does not exist";
    switch (policy_.missing_allow_write) {
        case MissingAllowWrite::create:
            break;
        case MissingAllowWrite::skip:
            return warn(entry.where + ": " + missing + " and is not granted");
        case MissingAllowWrite::error:
            refuse(entry,
                   missing + R"(; make it, or set filesystem.missingAllowWrite to "create" or "skip")");
    }
    // It is a directory by the time the plan is carried out.
    ResolvedPath path = entry.path;
    path.fact.kind = PathKind::directory;
    create_directories.push_back(path.place);
    add(Access::allow_write, path, entry.rule);
}

void PolicyRules::allow_read(const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    // Read as the session has them, whatever the policy says.
    if (is_standard_stream(entry.absolute) || is_own_device(place) || place == kDev ||
        wire::holds(kProc, place))
        return;
    if (wire::holds(kDev, place))
        return warn(entry.where + ": " + place +
                    " is in /dev and not granted; filesystem.devices grants nodes");
    if (leads_astray(entry) || exceeds(Access::allow_read, entry)) return;
    if (entry.path.fact.exists()) return add(Access::allow_read, entry.path, entry.rule, entry.expanded);
    // A mount that hides a directory of the host cannot show what will come into it.
    warn(entry.where + ": " + quoted(entry.absolute) + " does not exist and is not granted");
}

void PolicyRules::allow_read_by_links(const std::vector<PolicyEntry>& entries,
                                      const std::vector<PolicyEntry>& denied) {
    if (entries.empty()) return;
    wire::AccessRules without = found.rules;
    for (const PolicyEntry& denial : denied)
        without.add({Access::deny_read, denial.path.place, denial.rule, denial.glob, false});
    const std::size_t before = warnings.size();
    for (const PolicyEntry& entry : entries) {
        const std::string& place = entry.path.place;
        const wire::Verdict verdict = without.read(place);
        if (verdict.allowed)
            allow_read(entry);
        else
            warn(entry.where + ": " + quoted(entry.absolute) + " leads to " + place + " by the link " +
                 written_link(entry.path, written_) + ", which a command may have made, so " + verdict.rule +
                 " prevails; grant " + place + " by its own name");
    }
    fold_warnings(before, "paths of filesystem.allowRead lift nothing, for they lead by such links");
}

void PolicyRules::allow_execute(const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    if (!entry.path.fact.exists())
        return warn(entry.where + ": " + quoted(entry.absolute) + " does not exist and is not granted");
    if (leads_astray(entry) || exceeds(Access::allow_execute, entry)) return;
    if (is_in_own_tree(place)) refuse(entry, place + " is in /proc or /dev, where nothing can be executed");
    protect_way(entry.path, entry.rule + " (the way to it)");
    found.rules.add({Access::allow_execute, place, entry.rule, {}, entry.expanded});
}

void PolicyRules::deny_read(const PolicyEntry& entry) {
    if (is_void_by_link(Access::deny_read, entry)) return;
    if (!entry.glob.empty()) return deny_glob(Access::deny_read, entry);
    if (wire::holds(kProc, entry.path.place))
        refuse(entry,
               entry.path.place + " is in /proc, which is the session's own; its reading cannot be denied");
    deny(Access::deny_read, entry);
}

void PolicyRules::deny_write(const PolicyEntry& entry) {
    if (is_void_by_link(Access::deny_write, entry)) return;
    if (!entry.glob.empty()) return deny_glob(Access::deny_write, entry);
    deny(Access::deny_write, entry);
}

void PolicyRules::deny(Access access, const PolicyEntry& entry) {
    const ResolvedPath& path = entry.path;
    if (path.place == "/") refuse(entry, "/ cannot be denied as a whole, for nothing could start");
    if (wire::holds(kDev, path.place)) return deny_in_dev(access, entry);
    add(access, path, entry.rule);
    warn_of_alias(path, entry.rule);
    if (path.fact.kind == PathKind::unreachable)
        warn(entry.where + ": " + quoted(entry.absolute) + " cannot be looked at (" + reason_of(path) +
             "), so it is protected by its name only");
}

// The host's /dev is out of reach, so there is nothing to mount over; a rule keeps the name from being made.
// But a link to /dev/null in a deny list must not take /dev/null away.
void PolicyRules::deny_in_dev(Access access, const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    for (const std::string& device : found.devices)
        if (wire::holds(place, device))
            throw Error(Errc::sandbox_policy_conflict,
                        entry.where + " denies " + device + ", which filesystem.devices grants");
    const bool own = place == kDev || is_own_device(place);
    if (own && entry.path.passed.empty())
        refuse(entry, place + " is the session's own and cannot be denied; accepted: other places");
    protect_way(entry.path, entry.rule);
    if (own) return warn(entry.where + ": " + place + " is the session's own and not denied");
    found.rules.add({access, place, entry.rule, {}, false});
}

void PolicyRules::allow_git_worktrees() {
    if (!policy_.allow_git_worktree) return;
    for (const std::string& root : found.rules.writable_roots()) {
        const GitWorktree worktree = find_git_worktree(root, facts_);
        if (!worktree.linked) continue;
        if (!worktree.fault.empty()) {
            warn("filesystem.allowGitWorktree grants nothing for " + root + ": " + worktree.fault);
            continue;
        }
        if (wider_ && !has_grant(*wider_, Access::allow_write, worktree.common)) {
            warn("filesystem.allowGitWorktree grants nothing for " + root +
                 ": the session that this one comes from cannot write " + worktree.common);
            continue;
        }
        add(Access::allow_write, {worktree.common, facts_.look(worktree.common), {}}, "allowGitWorktree");
        for (const std::string& other : worktree.others)
            add(Access::deny_write, {other, facts_.look(other), {}}, "allowGitWorktree (another worktree)");
    }
}

void PolicyRules::deny_kernel_mounts(const KernelMounts& kernel, const std::string& workspace) {
    const auto deny_all = [&](Access access, const std::vector<std::string>& places) {
        for (const std::string& place : places)
            if (is_shown(place) || wire::holds(workspace, place))
                add(access, {place, facts_.look(place), {}}, "the host's kernel, mounted at " + place);
    };
    deny_all(Access::deny_read, kernel.hidden);
    // What allowRead shows of it is not meant to be written.
    deny_all(Access::deny_write, kernel.hidden);
    deny_all(Access::deny_write, kernel.read_only);
}

void PolicyRules::keep_denials() {
    if (!wider_ || !wider_->plan.rules.enabled) return;
    for (const wire::AccessRule& rule : wider_->plan.rules.all()) {
        const bool denies = rule.access == Access::deny_read || wire::denies_write(rule.access);
        if (!denies || !rule.glob.empty()) continue;
        const PathFact fact = facts_.look(rule.place);
        found.rules.add(rule);
        if (fact.exists() && fact.kind != PathKind::symlink)
            found.places[rule.place] = fact.kind == PathKind::directory;
    }
}

void PolicyRules::deny_glob(Access access, const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    if (access == Access::deny_read && wire::holds(kProc, place))
        refuse(entry, place + " is in /proc, which is the session's own; its reading cannot be denied");
    protect_way(entry.path, entry.rule);
    if (!is_in_own_tree(place)) found.rules.add({access, place, entry.rule, entry.glob, false});
}

void PolicyRules::protect_name(const PolicyEntry& entry) {
    const ResolvedPath& path = entry.path;
    if (found.rules.in_root(path.place) && !is_in_own_tree(path.place))
        return add(Access::deny_write, path, entry.rule + " (its name)");
    protect_way(path, entry.rule + " (the way to it)");
}

bool PolicyRules::is_shown(const std::string& place) const {
    return !wire::holds(found.tmp, place) || is_granted_within(found.rules, found.tmp, place);
}

void PolicyRules::add(Access access, const ResolvedPath& path, const std::string& rule, bool expanded) {
    const bool allows = access != Access::deny_read && !wire::denies_write(access);
    protect_way(path, allows ? rule + " (the way to it)" : rule);
    found.rules.add({access, path.place, rule, {}, expanded});
    if (path.fact.exists()) found.places[path.place] = path.fact.kind == PathKind::directory;
}

// Who replaces a link on the way sends the path elsewhere: at a denied path there would be another file, and
// a granted one would grant another place to the next session.
void PolicyRules::protect_way(const ResolvedPath& path, const std::string& rule) {
    for (const std::string& name : path.passed)
        if (!is_in_own_tree(name)) found.rules.add({Access::deny_write, name, rule, {}, false});
}

void PolicyRules::warn_of_alias(const ResolvedPath& path, const std::string& rule) {
    if (path.fact.kind != PathKind::file || path.fact.hard_links < 2) return;
    warn(path.place + " has " + std::to_string(path.fact.hard_links - 1) +
         " more hard link(s), which are not protected by " + rule);
}

}  // namespace sandpipe
