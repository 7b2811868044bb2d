#include "sandbox/make_directories.hpp"

#include <sandpipe/error.hpp>
#include <sandpipe/unique_fd.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace sandpipe {
namespace {

constexpr int kHandle = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// 0 or -errno; -ENOTDIR for a link.
int enter(unique_fd& directory, const std::string& name) {
    unique_fd next(::openat(directory.get(), name.c_str(), kHandle));
    if (!next && errno == ENOENT) {
        if (::mkdirat(directory.get(), name.c_str(), 0777) < 0 && errno != EEXIST) return -errno;
        next.reset(::openat(directory.get(), name.c_str(), kHandle));
    }
    if (!next) return -errno;
    directory = std::move(next);
    return 0;
}

int make_directory(std::string_view path) {
    unique_fd directory(::open("/", kHandle));
    int error = directory ? 0 : -errno;
    while (error == 0 && !path.empty()) {
        path.remove_prefix(1);
        const std::string name(path.substr(0, path.find('/')));
        path.remove_prefix(std::min(name.size(), path.size()));
        if (!name.empty()) error = enter(directory, name);
    }
    return error;
}

}  // namespace

void make_directories(const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
        if (const int error = make_directory(path); error < 0)
            throw Error(Errc::sandbox_failed, "allowWrite: cannot create \"" + path +
                                                  "\": " + std::generic_category().message(-error));
}

}  // namespace sandpipe
