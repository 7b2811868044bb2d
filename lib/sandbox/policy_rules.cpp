#include "policy_rules.hpp"

#include <sandpipe/error.hpp>

#include <algorithm>
#include <system_error>

#include "git_worktree.hpp"
#include "mandatory_denies.hpp"
#include "own_places.hpp"
#include "planted_link.hpp"

namespace sandpipe {
namespace {

using wire::Access;

// Each is a mount, as in glob_search.cpp.
constexpr std::size_t kMaxMandatory = 50'000;

[[noreturn]] void refuse(const PolicyEntry& entry, const std::string& text) {
    throw Error(Errc::invalid_sandbox_config, entry.where + ": " + text);
}

[[noreturn]] void refuse_mandatory(const MandatoryPlace& last) {
    throw Error(Errc::invalid_sandbox_config,
                "filesystem.allowWrite grants more than " + std::to_string(kMaxMandatory) +
                    " names that are always denied, such as " + last.path +
                    ", and the kernel has no room for so many mounts; grant smaller directories, or lift the "
                    "names by filesystem.mandatoryDenyExcept");
}

std::string quoted(const std::string& path) { return "\"" + path + "\""; }

std::string reason_of(const ResolvedPath& path) { return std::generic_category().message(path.fact.error); }

// The kernel's own trees are settings of the machine, and "/" holds them.
void check_can_be_writable(const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    if (wire::holds(kDev, place))
        refuse(entry, place + " is in /dev; grant device nodes by filesystem.devices");
    if (place == "/" || wire::holds(kProc, place) || wire::holds(kSys, place))
        refuse(entry,
               place + " cannot be made writable; accepted: places other than /, /proc, /sys and below them");
    if (entry.path.fact.kind == PathKind::unreachable)
        refuse(entry, quoted(entry.absolute) + " cannot be looked at: " + reason_of(entry.path));
}

bool holds_any(std::string_view place, const std::vector<std::string>& others) {
    return std::any_of(others.begin(), others.end(),
                       [&](const std::string& other) { return wire::holds(place, other); });
}

}  // namespace

void PolicyRules::grant_device(const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    if (place != entry.absolute)
        refuse(entry, quoted(entry.absolute) + " leads to " + place + "; name the node itself");
    if (is_own_device(place)) return;
    if (entry.path.fact.kind == PathKind::directory) return grant_devices_in(entry);
    if (entry.path.fact.kind == PathKind::device) return found.devices.push_back(place);
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

bool PolicyRules::leads_astray(const PolicyEntry& entry) {
    const std::string link = planted_link(entry.path, written_);
    if (link.empty()) return false;
    const std::string text = quoted(entry.absolute) + " leads to " + entry.path.place + " by the link " + link +
                             ", which a command may have made; grant " + entry.path.place + " by its own name";
    const bool is_root = entry.where.starts_with("filesystem.allowWrite");
    if (is_root && policy_.missing_allow_write != MissingAllowWrite::skip) refuse(entry, text);
    warn(entry.where + ": " + text);
    return true;
}

void PolicyRules::allow_write(const PolicyEntry& entry) {
    if (is_standard_stream(entry.absolute) || is_own_device(entry.path.place) || leads_astray(entry)) return;
    check_can_be_writable(entry);
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
    if (leads_astray(entry)) return;
    if (entry.path.fact.exists()) return add(Access::allow_read, entry.path, entry.rule, entry.expanded);
    // A mount that hides a directory of the host cannot show what will come into it.
    warn(entry.where + ": " + quoted(entry.absolute) + " does not exist and is not granted");
}

void PolicyRules::allow_execute(const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    if (!entry.path.fact.exists())
        return warn(entry.where + ": " + quoted(entry.absolute) + " does not exist and is not granted");
    if (leads_astray(entry)) return;
    if (is_in_own_tree(place)) refuse(entry, place + " is in /proc or /dev, where nothing can be executed");
    protect_way(entry.path, entry.rule + " (the way to it)");
    found.rules.add({Access::allow_execute, place, entry.rule, {}, entry.expanded});
}

void PolicyRules::deny_read(const PolicyEntry& entry) {
    if (!entry.glob.empty()) return deny_glob(Access::deny_read, entry);
    if (wire::holds(kProc, entry.path.place))
        refuse(entry,
               entry.path.place + " is in /proc, which is the session's own; its reading cannot be denied");
    deny(Access::deny_read, entry);
}

void PolicyRules::deny_write(const PolicyEntry& entry) {
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
    protect_way(entry.path, entry.rule);
    if (place == kDev || is_own_device(place))
        return warn(entry.where + ": " + place + " is the session's own and not denied");
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
        add(Access::allow_write, {worktree.common, facts_.look(worktree.common), {}}, "allowGitWorktree");
        for (const std::string& other : worktree.others)
            add(Access::deny_write, {other, facts_.look(other), {}}, "allowGitWorktree (another worktree)");
    }
}

void PolicyRules::deny_glob(Access access, const PolicyEntry& entry) {
    const std::string& place = entry.path.place;
    if (access == Access::deny_read && wire::holds(kProc, place))
        refuse(entry, place + " is in /proc, which is the session's own; its reading cannot be denied");
    protect_way(entry.path, entry.rule);
    if (!is_in_own_tree(place)) found.rules.add({access, place, entry.rule, entry.glob, false});
}

void PolicyRules::deny_found(Access access, const PolicyEntry& glob, const GlobFind& name) {
    if (is_in_own_tree(name.path)) return;
    if (name.kind == PathKind::symlink) return deny_behind_link(access, glob, name.path);
    const bool lifted = access == Access::deny_read && found.rules.read(name.path).allowed;
    // Outside of the roots nothing can be written anyway.
    const bool in_vain = access == Access::deny_write && !found.rules.in_root(name.path);
    // What a session does not see needs no cover, and a cover would tell its name.
    if (lifted || in_vain || !is_shown(name.path)) return;
    found.rules.add({access, name.path, glob.rule, {}, true});
    found.places[name.path] = name.kind == PathKind::directory;
    if (name.kind == PathKind::file) warn_of_alias({name.path, facts_.look(name.path), {}}, glob.rule);
}

void PolicyRules::warn_of_gap(const PolicyEntry& glob, const GlobGap& gap) {
    warn(glob.where + ": what is in " + gap.path +
         " cannot be searched: " + std::generic_category().message(gap.error));
}

void PolicyRules::fold_warnings(std::size_t first) {
    constexpr std::size_t kMostNamed = 10;
    if (warnings.size() <= first + kMostNamed) return;
    const std::size_t more = warnings.size() - first - kMostNamed;
    warnings.resize(first + kMostNamed);
    warn(std::to_string(more) + " more directories cannot be searched for what globs match");
}

// Its owner can give himself the rights that were missing (chmod(2)) only where the mount is writable.
void PolicyRules::deny_gap(Access access, const PolicyEntry& glob, const GlobGap& gap) {
    if (is_in_own_tree(gap.path) || !is_shown(gap.path)) return;
    const bool writable = found.rules.in_root(gap.path);
    const bool reads = access == Access::deny_read;
    const std::string place(nameable_path(gap.path));
    if (!writable && !(reads && can_be_masked(place))) return warn_of_gap(glob, gap);
    warn(glob.where + ": nothing in " + place + " can be " + (reads ? "read" : "written") +
         ", because it cannot be searched: " + std::generic_category().message(gap.error));
    add(access, {place, facts_.look(place), {}}, glob.rule + " (a directory that cannot be searched)");
}

// Elsewhere whoever made it meant others to pass through it, and what a session is for may be there.
bool PolicyRules::can_be_masked(const std::string& directory) const {
    if (!facts_.look(join_path(directory, ".")).exists()) return false;
    return !holds_any(directory, written_) && !holds_any(directory, found.rules.writable_roots());
}

// As with a link that is named without a glob, what it leads to is meant. But a command may have made it.
void PolicyRules::deny_behind_link(Access access, const PolicyEntry& glob, const std::string& link) {
    const ResolvedPath path = resolve_path(link, facts_);
    const bool leads_astray = path.place == "/" || holds_any(path.place, found.rules.writable_roots());
    if (leads_astray)
        warn(link + " leads to " + path.place + ", which is granted; only the link is protected");
    if (leads_astray || is_in_own_tree(path.place)) return protect_way(path, glob.rule);
    add(access, path, glob.rule);
    warn_of_alias(path, glob.rule);
}

bool PolicyRules::is_shown(const std::string& place) const {
    return !wire::holds(found.tmp, place) || is_granted_within(found.rules, found.tmp, place);
}

void PolicyRules::deny_mandatory() {
    const std::vector<std::string> roots = found.rules.writable_roots();
    MandatoryPlaces mandatory = find_mandatory_denies(roots, policy_, facts_);
    std::size_t existing = 0;
    for (const MandatoryPlace& place : mandatory.places)
        if (deny_mandatory(place, roots) && ++existing > kMaxMandatory) refuse_mandatory(place);
    for (const MandatoryPlace& place : mandatory.new_repositories)
        found.rules.add({Access::new_repository, place.path, place.text, {}, false});
    for (std::string& warning : mandatory.warnings) warn(std::move(warning));
}

bool PolicyRules::deny_mandatory(const MandatoryPlace& place, const std::vector<std::string>& roots) {
    const std::string& path = place.path;
    const std::string& rule = place.text;
    const std::string_view whole = path;
    const ResolvedPath resolved =
        resolve_below(whole.substr(0, place.resolved), whole.substr(place.resolved), facts_);
    // A command may have made a link of this name. The next session protects the link, and must not lose its
    // workspace or its devices to it.
    const bool leads_astray = !resolved.passed.empty() && holds_any(resolved.place, roots);
    if (leads_astray)
        warn(path + " leads to " + resolved.place + ", which is granted; only the link is protected");
    if (leads_astray || is_in_own_tree(resolved.place)) {
        protect_way(resolved, rule);
        return false;
    }
    add(place.until_made ? Access::deny_after_init : Access::deny_write, resolved, rule);
    warn_of_alias(resolved, rule);
    return resolved.fact.exists();
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
