#include "launcher/kernel/unnamed_copy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sys/descriptors.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace sandpipe::launcher {
namespace {

constexpr off_t kMostBytes = off_t{64} * 1024 * 1024;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

int make_memory_file(unique_fd& memory) {
    constexpr const char* kName = "sandpipe-input";
    constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    memory.reset(::memfd_create(kName, kFlags | MFD_NOEXEC_SEAL));
    // Before 6.3.
    if (!memory && errno == EINVAL) memory.reset(::memfd_create(kName, kFlags));
    return memory ? 0 : -errno;
}

int copy_bytes(int from, int to) {
    std::vector<char> bytes(256 * 1024);
    for (off_t at = 0;;) {
        const ssize_t got = ::pread(from, bytes.data(), bytes.size(), at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? -errno : 0;
        at += got;
        if (at > kMostBytes) return -EFBIG;
        const std::string_view part(bytes.data(), static_cast<std::size_t>(got));
        if (const int error = sys::write_all(to, part); error < 0) return error;
    }
}

}  // namespace

int copy_unnamed(int file, unique_fd& copy) {
    struct stat status {};
    const off_t offset = ::lseek(file, 0, SEEK_CUR);
    if (offset < 0 || ::fstat(file, &status) < 0) return -errno;
    if (status.st_size > kMostBytes) return -EFBIG;
    unique_fd memory;
    if (const int error = make_memory_file(memory); error < 0) return error;
    if (const int error = copy_bytes(file, memory.get()); error < 0) return error;
    if (::fcntl(memory.get(), F_ADD_SEALS, kSeals) < 0) return -errno;
    const std::string path = "/proc/self/fd/" + std::to_string(memory.get());
    unique_fd reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    // Without a /proc it stays open for writing, which the seals do not let it.
    copy = reader ? std::move(reader) : std::move(memory);
    return ::lseek(copy.get(), offset, SEEK_SET) < 0 ? -errno : 0;
}

}  // namespace sandpipe::launcher
