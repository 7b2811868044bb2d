#include "launcher/view/file_view.hpp"

#include <linux/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launcher/kernel/mounts.hpp"
#include "launcher/view/covers.hpp"
#include "launcher/view/device_view.hpp"
#include "launcher/view/proc_view.hpp"
#include "launcher/view/relay_image.hpp"
#include "wire/access_rules.hpp"
#include "wire/hidden_facts.hpp"
#include "wire/proxy_ports.hpp"

namespace sandpipe::launcher {
namespace {

using wire::MountOp;
using wire::MountStep;

constexpr SkeletonModes kPrivateModes{0755, 0644};
// Whoever walks to a hole may pass through and see nothing else.
constexpr SkeletonModes kMaskModes{0111, 0};

// A device node that stands outside of /dev would give the session what its own /dev keeps from it.
constexpr std::uint64_t kPlainFiles = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

Outcome mounts_failed(int error, const std::string& path) { return fail(Stage::mounts, -error, path); }

/// What the host has removed since the plan was made needs no cover; should it come back, each command's start looks
/// again (Protection), and until then its name is the supervisor's matter.
int unless_gone(int error) { return error == -ENOENT || error == -ENOTDIR ? 0 : error; }

/// A link that stands there now is protected as one, and that is the supervisor's matter too; what it leads to is covered
/// by the Protection, which looks at each place before there is any command.
int unless_link(int error) { return error == -ELOOP ? 0 : unless_gone(error); }

/// What a session cannot do without where its whole root is denied: a place for the inits' /proc, and the
/// names by which programs call the loader and the shell where these stand in /usr.
int make_root_skeleton(int root) {
    for (const char* name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
        char target[PATH_MAX];
        const std::string link = std::string("/") + name;
        const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
        if (size < 0 && errno != ENOENT && errno != EINVAL) return -errno;
        if (size < 0) continue;
        if (::symlinkat(std::string(target, static_cast<std::size_t>(size)).c_str(), root, name) < 0)
            return -errno;
    }
    return make_mount_point(root, kProc.substr(1), true, kMaskModes);
}

class FileView {
  public:
    FileView(const wire::SessionPlan& plan, Masks& masks, unique_fd relay)
        : plan_(plan), masks_(masks), relay_(std::move(relay)), slots_(plan.mounts.size()) {}

    Outcome lay_out();

  private:
    int take(const MountOp& op);
    int take_dev(const MountOp& op);
    int carry_out(const MountOp& op);
    int take_tree(const MountOp& op);
    int read_only_root();
    int private_tmp(const MountOp& op);
    int place(const MountOp& op, std::uint64_t more_flags);
    int mask_with_holes(const MountOp& op);
    int put(int tree, const std::string& path);
    int protect(const std::string& path);
    int put_mask_unless_link(const std::string& path);
    int put_root(int tree);
    int protect_kernel_settings();
    int hide_host_facts();
    int make_holes(int root, const MountOp& op, SkeletonModes modes);
    [[nodiscard]] bool is_device(const std::string& path) const;

    const wire::SessionPlan& plan_;
    Masks& masks_;
    unique_fd relay_;  // invalid where the session has no proxies
    std::vector<Device> devices_;
    std::map<std::string, unique_fd> origins_;  // where the trees were taken, the innermost last
    std::vector<unique_fd>
        slots_;  // closed with this object, as origins_: each is a way around what was put over it
};

Outcome FileView::lay_out() {
    for (const MountOp& op : plan_.mounts)
        if (const int error = take(op); error < 0) return mounts_failed(error, op.path);
    for (const MountOp& op : plan_.mounts)
        if (const int error = carry_out(op); error < 0) return mounts_failed(error, op.path);
    const int error = plan_.filesystem_enforced ? hide_host_facts() : 0;
    return error == 0 ? Outcome{} : mounts_failed(error, "/sys");
}

int FileView::hide_host_facts() {
    for (const char* name : wire::kHiddenInSys)
        if (const int error = unless_gone(put_mask(masks_, std::string("/sys/") + name)); error < 0) return error;
    return 0;
}

/// What comes from the host's own view, before any of it is hidden.
int FileView::take(const MountOp& op) {
    if (op.step == MountStep::take_tree) return take_tree(op);
    if (op.step == MountStep::private_dev) return devices_.empty() ? take_dev(op) : -EINVAL;
    return 0;
}

int FileView::take_dev(const MountOp& op) {
    const int error = take_devices(op, devices_);
    if (error == 0 && relay_) devices_.push_back({std::string(wire::kRelayDirectory), true, std::move(relay_)});
    return error;
}

int FileView::carry_out(const MountOp& op) {
    if (is_in_proc(op.path)) return is_possible_in_proc(op) ? 0 : -EOPNOTSUPP;
    switch (op.step) {
        case MountStep::take_tree:
            return 0;
        case MountStep::read_only_root:
            return read_only_root();
        case MountStep::private_tmp:
            return private_tmp(op);
        case MountStep::private_dev:
            return put_private_dev(op, devices_);
        case MountStep::place_writable:
            return place(op, 0);
        case MountStep::place_read_only:
            return place(op, MOUNT_ATTR_RDONLY);
        case MountStep::bind_read_only:
            return unless_link(protect(op.path));
        case MountStep::mask:
            return put_mask_unless_link(op.path);
        case MountStep::mask_with_holes:
            return mask_with_holes(op);
    }
    return -EINVAL;
}

int FileView::put_mask_unless_link(const std::string& path) {
    const int error = put_mask(masks_, path);
    return plan_.filesystem_enforced ? unless_link(error) : unless_gone(error);
}

int FileView::take_tree(const MountOp& op) {
    if (op.slot >= slots_.size() || slots_[op.slot]) return -EINVAL;
    unique_fd place;
    int error = open_place(op.path, place);
    if (error == 0) error = clone_tree(place.get(), slots_[op.slot]);
    if (error == 0) origins_[op.path] = std::move(place);
    return error;
}

/// As bind_read_only, but cloned from what the host has at the place: a clone costs as much as its source has
/// mounts on it, and a writable tree may get thousands.
int FileView::protect(const std::string& path) {
    const auto above = std::find_if(origins_.rbegin(), origins_.rend(),
                                    [&](const auto& origin) { return wire::holds(origin.first, path); });
    const std::string below(above == origins_.rend() ? std::string_view() : wire::relative_to(above->first, path));
    if (below.empty()) return bind_read_only(path);
    unique_fd source;
    unique_fd place;
    int error = open_place_below(above->second.get(), below, source);
    if (error == 0) error = open_place(path, place);
    return error == 0 ? put_read_only(source.get(), place.get()) : error;
}

int FileView::read_only_root() {
    unique_fd root;
    const int error = open_place("/", root);
    return error == 0 ? flag_tree(root.get(), {MOUNT_ATTR_RDONLY | kPlainFiles, 0}) : error;
}

int FileView::private_tmp(const MountOp& op) {
    unique_fd tmpfs;
    int error = make_tmpfs("1777", op.bytes, tmpfs);
    if (error == 0) error = make_holes(tmpfs.get(), op, kPrivateModes);
    if (error == 0 && op.noexec) error = flag_mount(tmpfs.get(), {MOUNT_ATTR_NOEXEC, 0});
    return error == 0 ? put(tmpfs.get(), op.path) : error;
}

/// The tree was taken before the root became read-only, so what was writable still is, and what the host
/// itself mounted read-only stays that.
int FileView::place(const MountOp& op, std::uint64_t more_flags) {
    if (op.slot >= slots_.size() || !slots_[op.slot]) return -EINVAL;
    const unique_fd tree = std::move(slots_[op.slot]);
    const std::uint64_t flags = is_device(op.path) ? std::uint64_t{MOUNT_ATTR_NOSUID} : kPlainFiles;
    if (op.noexec) more_flags |= MOUNT_ATTR_NOEXEC;
    const int error = flag_tree(tree.get(), {flags | more_flags, 0});
    return error == 0 ? put(tree.get(), op.path) : error;
}

int FileView::mask_with_holes(const MountOp& op) {
    unique_fd tmpfs;
    int error = make_tmpfs("0111", 0, tmpfs);
    if (error == 0) error = make_holes(tmpfs.get(), op, kMaskModes);
    if (error == 0 && op.path == "/") error = make_root_skeleton(tmpfs.get());
    if (error == 0) error = flag_mount(tmpfs.get(), {MOUNT_ATTR_RDONLY, 0});
    return error == 0 ? put(tmpfs.get(), op.path) : error;
}

int FileView::make_holes(int root, const MountOp& op, SkeletonModes modes) {
    if (op.holes.size() != op.hole_is_directory.size()) return -EINVAL;
    for (std::size_t i = 0; i < op.holes.size(); ++i) {
        const std::string_view hole = wire::relative_to(op.path, op.holes[i]);
        if (const int error = make_mount_point(root, hole, op.hole_is_directory[i] != 0, modes); error < 0)
            return error;
    }
    return 0;
}

int FileView::put(int tree, const std::string& path) {
    if (path == "/") return put_root(tree);
    unique_fd place;
    const int error = open_place(path, place);
    return error == 0 ? attach(tree, place.get()) : error;
}

/// Absolute paths start at the root that this process has, not at what is mounted over it, so it has to move
/// there. The cover of /proc comes along.
int FileView::put_root(int tree) {
    unique_fd place;
    unique_fd proc;
    unique_fd cover;
    int error = open_place("/", place);
    if (error == 0) error = open_place(std::string(kProc), proc);
    if (error == 0) error = clone_tree(proc.get(), cover);
    if (error == 0) error = attach(tree, place.get());
    if (error < 0) return error;
    if (::fchdir(tree) < 0 || ::chroot(".") < 0) return -errno;
    error = put(cover.get(), std::string(kProc));
    return error == 0 ? protect_kernel_settings() : error;
}

/// A tree taken from "/" has the host's own /sys. Nobody is granted that: without any capability root could
/// still write there, by the files' modes.
int FileView::protect_kernel_settings() {
    unique_fd settings;
    int error = open_place("/sys", settings);
    if (error == -ENOENT) return 0;
    if (error == 0) error = flag_tree(settings.get(), {MOUNT_ATTR_RDONLY, 0});
    return error == -EINVAL ? 0 : error;  // no mount of its own: a plain directory without settings
}

bool FileView::is_device(const std::string& path) const {
    for (const MountOp& op : plan_.mounts)
        if (op.step == MountStep::private_dev && wire::holds(op.path, path)) return true;
    return false;
}

}  // namespace

Outcome lay_out_files(const wire::SessionPlan& plan, Masks& masks, HostTree& host) {
    unique_fd root;
    int error = open_place("/", root);
    if (error == 0) error = make_tree_private(root.get());
    if (error == 0 && plan.filesystem_enforced) error = host.take(root.get());
    if (error < 0) return mounts_failed(error, "/");
    // Before /proc is covered, by which it finds its own image.
    unique_fd relay;
    if (plan.filesystem_enforced && !plan.proxy_ports.empty()) error = make_relay_tree(relay);
    if (error < 0) return mounts_failed(error, std::string(wire::kRelayPath));
    // First of the rest, because the steps need the masks, and a taken root its /proc covered.
    if (Outcome failure = cover_proc(masks)) return failure;
    return FileView(plan, masks, std::move(relay)).lay_out();
}

}  // namespace sandpipe::launcher
