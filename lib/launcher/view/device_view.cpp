#include "launcher/view/device_view.hpp"

#include <linux/mount.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "launcher/kernel/mounts.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe::launcher {
namespace {

// None of them can be executed, but what is mapped of "zero" is memory like any other, code too.
constexpr const char* kNodes[] = {"null", "zero", "full", "random", "urandom", "tty"};

struct Link {
    const char* name;
    const char* target;
};
constexpr Link kLinks[] = {
    {"ptmx", "pts/ptmx"},          {"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"},
    {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
};

constexpr SkeletonModes kModes{0755, 0};

/// Read-only, so that root cannot change the mode or owner of the host's node; the device itself can still be
/// written (mount(2): special files are not subject to it).
int take_device(const std::string& path, std::uint64_t more_flags, unique_fd& tree) {
    unique_fd place;
    int error = open_place(path, place);
    if (error == 0) error = clone_tree(place.get(), tree);
    if (error < 0) return error;
    return flag_tree(tree.get(), {MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | more_flags, MOUNT_ATTR_NODEV});
}

int make_skeleton(int dev, const std::vector<Device>& devices) {
    for (const Device& device : devices)
        if (const int error = make_mount_point(dev, device.name, device.is_directory, kModes); error < 0)
            return error;
    for (const char* name : {"pts", "shm"})
        if (const int error = make_mount_point(dev, name, true, kModes); error < 0) return error;
    for (const Link& link : kLinks)
        if (::symlinkat(link.target, dev, link.name) < 0) return -errno;
    return flag_mount(dev, {MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0});
}

int attach_below(int dev, const std::string& name, int tree) {
    unique_fd place;
    const int error = open_place_below(dev, name, place);
    return error == 0 ? attach(tree, place.get()) : error;
}

/// Without gid=5: a user's session cannot name that group.
int attach_terminals(int dev) {
    constexpr FilesystemOption kOptions[] = {{"newinstance"}, {"ptmxmode", "0666"}, {"mode", "0620"}};
    unique_fd terminals;
    const int error = make_filesystem("devpts", kOptions, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, terminals);
    return error == 0 ? attach_below(dev, "pts", terminals.get()) : error;
}

int attach_shared_memory(int dev, const wire::MountOp& op) {
    unique_fd memory;
    int error = make_tmpfs("1777", op.bytes, memory);
    if (error == 0 && op.noexec) error = flag_mount(memory.get(), {MOUNT_ATTR_NOEXEC, 0});
    return error == 0 ? attach_below(dev, "shm", memory.get()) : error;
}

}  // namespace

int take_devices(const wire::MountOp& op, std::vector<Device>& devices) {
    for (const char* name : kNodes) {
        Device device{name, false, {}};
        const int error = take_device(op.path + "/" + name, 0, device.tree);
        if (error == -ENOENT) continue;
        if (error < 0) return error;
        devices.push_back(std::move(device));
    }
    if (op.holes.size() != op.hole_is_directory.size()) return -EINVAL;
    for (std::size_t i = 0; i < op.holes.size(); ++i) {
        Device device{std::string(wire::relative_to(op.path, op.holes[i])), op.hole_is_directory[i] != 0, {}};
        if (const int error = take_device(op.holes[i], MOUNT_ATTR_NOEXEC, device.tree); error < 0) return error;
        devices.push_back(std::move(device));
    }
    return 0;
}

int put_private_dev(const wire::MountOp& op, const std::vector<Device>& devices) {
    unique_fd dev;
    unique_fd place;
    int error = make_tmpfs("0755", 0, dev);
    if (error == 0) error = make_skeleton(dev.get(), devices);
    if (error == 0) error = open_place(op.path, place);
    // Before its parts: kernels before 6.15 mount only on what is already part of the view.
    if (error == 0) error = attach(dev.get(), place.get());
    for (const Device& device : devices)
        if (error == 0) error = attach_below(dev.get(), device.name, device.tree.get());
    if (error == 0) error = attach_terminals(dev.get());
    return error == 0 ? attach_shared_memory(dev.get(), op) : error;
}

}  // namespace sandpipe::launcher
