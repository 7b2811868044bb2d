#include "sandbox/session_view.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "sandbox/policy/mount_layout.hpp"
#include "sandbox/policy/own_places.hpp"
#include "wire/hidden_facts.hpp"
#include "wire/proxy_ports.hpp"

namespace sandpipe {
namespace {

using wire::MountStep;

constexpr std::string_view kInit = "/proc/1";

/// What only a process that may trace init can look at, which none inside may (ptrace(2)).
constexpr std::array<std::string_view, 21> kSecretsOfInit{
    "auxv",        "clear_refs", "cwd",   "environ",      "exe",   "fd",        "fdinfo",
    "io",          "map_files",  "maps",  "mem",          "ns",    "numa_maps", "pagemap",
    "personality", "root",       "smaps", "smaps_rollup", "stack", "syscall",   "timers"};

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view first_name(std::string_view path) { return path.substr(0, path.find('/')); }

/// "cwd" of "/proc/self/cwd" and "/proc/thread-self/cwd"; empty for what is no entry of the command's own process.
std::string_view own_entry(std::string_view place) {
    for (const std::string_view process : {"/proc/self", "/proc/thread-self"})
        if (const std::string_view entry = wire::relative_to(process, place); !entry.empty()) return entry;
    return {};
}

/// The host's processes are not there, and those of the session nobody knows yet, but for its init.
std::string_view hidden_in_proc(std::string_view place) {
    if (wire::is_hidden_fact(place)) return "hidden in the session's own /proc";
    const std::string_view below = wire::relative_to(kProc, place);
    if (!is_number(first_name(below))) return {};
    if (!wire::holds(kInit, place)) return "a session has processes of its own";
    std::string_view entry = wire::relative_to(kInit, place);
    if (entry.starts_with("task/1/")) entry.remove_prefix(7);
    const bool secret =
        std::find(kSecretsOfInit.begin(), kSecretsOfInit.end(), first_name(entry)) != kSecretsOfInit.end();
    return secret ? "nobody may look into a session's init" : std::string_view();
}

/// The command's own links to objects lead where nobody knows yet, but for two.
PathFact look_in_proc(const std::string& path, const PathFacts& host) {
    constexpr PathFact kDirectory{PathKind::directory, 0, 1, 0, 0};
    if (path == "/proc/self" || path == "/proc/thread-self") return kDirectory;
    const std::string_view own = own_entry(path);
    if (own == "cwd" || own == "root") return {PathKind::symlink, 0, 1, 0, 0};
    PathFact fact = host.look(path);
    if (!own.empty() && fact.kind == PathKind::symlink) fact.kind = PathKind::other;
    return fact;
}

}  // namespace

PathFact SessionView::look(const std::string& path) const {
    if (wire::holds(kProc, path)) return hidden_in_proc(path).empty() ? look_in_proc(path, host_) : PathFact{};
    if (!compiled_.plan.rules.enabled) return host_.look(path);
    if (is_standard_stream(path)) return {PathKind::symlink, 0, 1, 0, 0};
    if (is_above_hole(path)) return {PathKind::directory, 0, 1, 0, 0};
    if (is_masked(path)) return {PathKind::unreachable, EACCES, 1, 0, 0};
    return hidden_by_own_place(path).empty() ? host_.look(path) : PathFact{};
}

std::string SessionView::link_target(const std::string& path) const {
    const std::string_view own = own_entry(path);
    if (own == "root") return "/";
    if (own == "cwd") return compiled_.plan.workspace;
    const bool is_own = compiled_.plan.rules.enabled && is_standard_stream(path);
    if (!is_own) return host_.link_target(path);
    if (path == "/dev/fd") return "/proc/self/fd";
    return path == "/dev/stdin" ? "/proc/self/fd/0" : path == "/dev/stdout" ? "/proc/self/fd/1" : "/proc/self/fd/2";
}

std::string_view SessionView::hidden(const std::string& place) const {
    if (wire::holds(kProc, place)) return hidden_in_proc(place);
    if (!compiled_.plan.rules.enabled)
        return is_covered(MountStep::mask, place) ? "the host's kernel, mounted here too" : std::string_view();
    if (wire::is_hidden_fact(place)) return "hidden in /sys";
    return hidden_by_own_place(place);
}

/// Where a session has something of its own, what the host has there is out of sight.
std::string_view SessionView::hidden_by_own_place(const std::string& place) const {
    if (is_above_hole(place)) return {};
    const bool exists = host_.look(place).exists();
    if (!wire::relative_to("/dev/shm", place).empty())
        return exists ? "hidden by the session's own /dev/shm" : std::string_view();
    if (wire::holds(kDev, place)) {
        const auto& granted = compiled_.devices;
        const bool own = place == kDev || is_own_device(place) || is_standard_stream(place) ||
                         place == "/dev/pts/ptmx" ||
                         std::find(granted.begin(), granted.end(), place) != granted.end() ||
                         (!compiled_.plan.proxy_ports.empty() && wire::holds(wire::kRelayPath, place));
        return own ? std::string_view() : "not in the session's own /dev";
    }
    const bool in_tmp = !wire::relative_to(compiled_.tmp, place).empty();
    if (in_tmp && exists && !is_granted_within(compiled_.plan.rules, compiled_.tmp, place))
        return "hidden by the session's own /tmp";
    return {};
}

bool SessionView::is_setting(std::string_view place) const {
    return !compiled_.plan.rules.enabled && is_covered(MountStep::bind_read_only, place);
}

bool SessionView::is_covered(MountStep step, std::string_view place) const {
    const auto& mounts = compiled_.plan.mounts;
    return std::any_of(mounts.begin(), mounts.end(), [&](const wire::MountOp& op) {
        return op.step == step && wire::holds(op.path, place);
    });
}

bool SessionView::is_above_hole(std::string_view place) const {
    const auto& mounts = compiled_.plan.mounts;
    return std::any_of(mounts.begin(), mounts.end(), [&](const wire::MountOp& op) {
        return std::any_of(op.holes.begin(), op.holes.end(),
                           [&](const std::string& hole) { return !wire::relative_to(place, hole).empty(); });
    });
}

/// A denied directory with holes shows these and nothing else: no link in it leads anywhere. Only if it is the root
/// are there links, by which programs are called.
bool SessionView::is_masked(const std::string& path) const {
    const wire::AccessRules& rules = compiled_.plan.rules;
    const std::string_view parent = parent_path(path);
    return parent != "/" && !rules.read(path).allowed && !rules.read(parent).allowed;
}

bool SessionView::may_search(const std::string& directory) const {
    if (!hidden(directory).empty()) return false;
    return compiled_.plan.rules.read(directory).allowed || is_above_hole(directory);
}

SessionWalk walk_in_session(std::string_view absolute, const SessionView& view) {
    SessionWalk walk;
    walk.path = resolve_path(absolute, view, [&](const std::string& directory) {
        const bool may = view.may_search(directory);
        if (!may) walk.blocked = directory;
        return may;
    });
    return walk;
}

}  // namespace sandpipe
