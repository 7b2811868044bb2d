#include "launcher/view/masks.hpp"

#include <linux/mount.h>
#include <sys/stat.h>

#include <cerrno>

#include "launcher/kernel/mounts.hpp"

namespace sandpipe::launcher {
namespace {

constexpr const char* kFile = "file";
constexpr const char* kDirectory = "directory";

}  // namespace

int Masks::make(int place) {
    constexpr SkeletonModes kModes{0, 0};
    unique_fd tmpfs;
    int error = make_tmpfs("0555", 4096, tmpfs);
    if (error == 0) error = make_mount_point(tmpfs.get(), kFile, false, kModes);
    if (error == 0) error = make_mount_point(tmpfs.get(), kDirectory, true, kModes);
    if (error == 0) error = flag_mount(tmpfs.get(), {MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0});
    if (error == 0) error = attach(tmpfs.get(), place);
    return error == 0 ? open(tmpfs.get()) : error;
}

int Masks::open(int root) {
    const int error = open_place_below(root, kFile, file);
    return error == 0 ? open_place_below(root, kDirectory, directory) : error;
}

int Masks::cover(int place) const {
    struct stat status {};
    if (::fstat(place, &status) < 0) return -errno;
    unique_fd mask;
    const int error = clone_tree(S_ISDIR(status.st_mode) ? directory.get() : file.get(), mask);
    return error == 0 ? attach(mask.get(), place) : error;
}

}  // namespace sandpipe::launcher
