#include "spool_file.hpp"

#include <fcntl.h>
#include <stdlib.h>  // NOLINT: mkostemp is no C++
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "sys/descriptors.hpp"

namespace sandpipe::tool {
namespace {

int open_named(const std::string& directory, unique_fd& file) {
    std::string name = directory + "/sandpipe-XXXXXX";
    unique_fd made(::mkostemp(name.data(), O_CLOEXEC));
    if (!made) return -errno;
    if (::unlink(name.c_str()) < 0) return -errno;
    file = std::move(made);
    return sys::lift(file);
}

int open_in_memory(unique_fd& file) {
    file.reset(::memfd_create("sandpipe-artifact", MFD_CLOEXEC));
    return file ? sys::lift(file) : -errno;
}

}  // namespace

int open_spool_file(const std::string& directory, unique_fd& file) {
    // O_EXCL: it can never be given a name, by nobody.
    if (sys::open_file(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR, 0600, file) >= 0) return 0;
    if (open_named(directory, file) >= 0) return 0;
    return open_in_memory(file);
}

int write_at(const unique_fd& file, std::uint64_t offset, std::string_view text, std::uint64_t& written) {
    for (written = 0; written < text.size();) {
        const ssize_t count = ::pwrite(file.get(), text.data() + written, text.size() - written,
                                       static_cast<off_t>(offset + written));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? -errno : -ENOSPC;
        written += static_cast<std::uint64_t>(count);
    }
    return 0;
}

int read_at(const unique_fd& file, std::uint64_t offset, std::uint64_t most, std::string& text) {
    text.resize(most);
    std::size_t got = 0;
    while (got < most) {
        const ssize_t count =
            ::pread(file.get(), text.data() + got, most - got, static_cast<off_t>(offset + got));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (count == 0) break;
        got += static_cast<std::size_t>(count);
    }
    text.resize(got);
    return 0;
}

std::uint64_t largest_file() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::numeric_limits<std::uint64_t>::max();
    return limit.rlim_cur;
}

}  // namespace sandpipe::tool
