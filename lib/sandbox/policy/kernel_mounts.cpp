#include "sandbox/policy/kernel_mounts.hpp"

#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "sandbox/policy/own_places.hpp"

namespace sandpipe {
namespace {

// By their names in /proc/filesystems.
constexpr std::array<std::string_view, 16> kHidden{
    "proc",    "sysfs",       "debugfs", "tracefs", "securityfs", "configfs", "bpf",     "pstore",
    "efivarfs", "fusectl", "binfmt_misc", "mqueue", "nfsd", "selinuxfs", "smackfs", "resctrl"};
constexpr std::array<std::string_view, 4> kReadOnly{"cgroup", "cgroup2", "cpuset", "rpc_pipefs"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& types, const std::string& type) {
    return std::find(types.begin(), types.end(), type) != types.end();
}

std::uint64_t number_of(const std::string& device) {
    char* end = nullptr;
    const unsigned long major = std::strtoul(device.c_str(), &end, 10);
    return *end == ':' ? ::makedev(major, std::strtoul(end + 1, nullptr, 10)) : 0;
}

/// The table does not tell what is mounted over a point.
bool is_seen(const HostMount& mount, const PathFacts& facts) {
    const PathFact fact = facts.look(mount.point);
    return fact.kind == PathKind::unreachable || (fact.exists() && fact.device == number_of(mount.device));
}

void sort_places(std::vector<std::string>& places) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
}

wire::MountOp cover(wire::MountStep step, std::string place) {
    wire::MountOp op;
    op.step = step;
    op.path = std::move(place);
    op.is_directory = true;
    return op;
}

}  // namespace

void KernelMounts::allow_read(const std::string& place) {
    if (std::erase(hidden, place) > 0) read_only.push_back(place);
}

void KernelMounts::allow_write(const std::string& place) {
    std::erase_if(read_only, [&](const std::string& mount) { return wire::holds(mount, place); });
}

std::vector<std::string> KernelMounts::never_written() const {
    std::vector<std::string> places = hidden;
    places.insert(places.end(), read_only.begin(), read_only.end());
    return places;
}

KernelMounts find_kernel_mounts(const std::vector<HostMount>& mounts, const PathFacts& facts) {
    KernelMounts found;
    for (const HostMount& mount : mounts) {
        const bool hidden = is_one_of(kHidden, mount.type);
        if (!hidden && !is_one_of(kReadOnly, mount.type)) continue;
        if (is_in_own_tree(mount.point) || wire::holds(kSys, mount.point) || !is_seen(mount, facts)) continue;
        (hidden ? found.hidden : found.read_only).push_back(mount.point);
    }
    sort_places(found.hidden);
    sort_places(found.read_only);
    return found;
}

std::vector<wire::MountOp> mounts_without_rules(const KernelMounts& kernel) {
    std::vector<wire::MountOp> mounts{cover(wire::MountStep::bind_read_only, std::string(kSys))};
    for (const std::string& place : kernel.read_only) mounts.push_back(cover(wire::MountStep::bind_read_only, place));
    for (const std::string& place : kernel.hidden) mounts.push_back(cover(wire::MountStep::mask, place));
    return mounts;
}

}  // namespace sandpipe
