#include "launcher/view/relay_image.hpp"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "launcher/kernel/mounts.hpp"
#include "sys/descriptors.hpp"
#include "wire/proxy_ports.hpp"

namespace sandpipe::launcher {
namespace {

int copy_image(int to) {
    unique_fd image;
    if (const int error = sys::open_file("/proc/self/exe", O_RDONLY, 0, image); error < 0) return error;
    struct stat status {};
    if (::fstat(image.get(), &status) < 0) return -errno;
    for (off_t copied = 0; copied < status.st_size;) {
        const ssize_t sent = ::sendfile(to, image.get(), &copied, static_cast<std::size_t>(status.st_size - copied));
        if (sent <= 0) return sent < 0 ? -errno : -EIO;
    }
    return 0;
}

}  // namespace

int make_relay_tree(unique_fd& tree) {
    if (const int error = make_tmpfs("0755", 0, tree); error < 0) return error;
    const unique_fd file(::openat(tree.get(), std::string(wire::kRelayName).c_str(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0555));
    if (!file) return -errno;
    return copy_image(file.get());
}

}  // namespace sandpipe::launcher
