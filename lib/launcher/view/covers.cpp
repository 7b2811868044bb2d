#include "launcher/view/covers.hpp"

#include <linux/mount.h>
#include <sys/stat.h>

#include "launcher/kernel/mounts.hpp"

namespace sandpipe::launcher {
namespace {

bool is_same(int one, int other) {
    struct stat first {};
    struct stat second {};
    if (::fstat(one, &first) < 0 || ::fstat(other, &second) < 0) return false;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

int put_read_only(int source, int place) {
    unique_fd tree;
    int error = clone_tree(is_same(source, place) ? source : place, tree);
    if (error == 0) error = flag_tree(tree.get(), {MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0});
    return error == 0 ? attach(tree.get(), place) : error;
}

int bind_read_only(const std::string& path) {
    unique_fd place;
    const int error = open_place(path, place);
    return error == 0 ? put_read_only(place.get(), place.get()) : error;
}

int put_mask(const Masks& masks, const std::string& path) {
    unique_fd covered;
    const int error = open_place(path, covered);
    return error == 0 ? masks.cover(covered.get()) : error;
}

}  // namespace sandpipe::launcher
