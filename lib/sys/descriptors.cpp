#include "descriptors.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "close_range.hpp"
#include "held_signal.hpp"
#include "raw_syscall.hpp"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // memfd_create(2), since 6.3
#endif

namespace sandpipe::sys {
namespace {

constexpr int kFirstFree = 3;

int result_of(int value) noexcept { return value < 0 ? -errno : value; }

int lift_both(unique_fd& first, unique_fd& second) noexcept {
    const int error = lift(first);
    return error < 0 ? error : lift(second);
}

}  // namespace

int write_all(int fd, std::string_view bytes) noexcept {
    HeldSignal too_large(SIGXFSZ);
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        const int error = written < 0 ? errno : 0;
        if (error == EFBIG) too_large.take();
        if (error != 0) return -error;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

bool is_shortage(int error) noexcept {
    return error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

int lift(unique_fd& fd) noexcept {
    if (fd.get() >= kFirstFree) return 0;
    const int lifted = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstFree);
    if (lifted < 0) return -errno;
    fd.reset(lifted);
    return 0;
}

int make_pipe(Pipe& pipe) noexcept {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return -errno;
    pipe.read_end.reset(ends[0]);
    pipe.write_end.reset(ends[1]);
    return lift_both(pipe.read_end, pipe.write_end);
}

int make_socket_pair(SocketPair& pair) noexcept {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -errno;
    pair.first.reset(ends[0]);
    pair.second.reset(ends[1]);
    return lift_both(pair.first, pair.second);
}

int duplicate(int fd, unique_fd& copy) noexcept {
    const int made = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree);
    if (made < 0) return -errno;
    copy.reset(made);
    return 0;
}

int make_sealed_memfd(const char* name, const void* bytes, std::size_t size, bool executable,
                      unique_fd& memfd) noexcept {
    constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = ::memfd_create(name, kFlags | (executable ? MFD_EXEC : 0U));
    // Kernels before 6.3 do not know MFD_EXEC, and need none.
    if (fd < 0 && errno == EINVAL && executable) fd = ::memfd_create(name, kFlags);
    if (fd < 0) return -errno;
    memfd.reset(fd);
    if (const int error = lift(memfd); error < 0) return error;
    if (const int error = write_all(memfd.get(), {static_cast<const char*>(bytes), size}); error < 0) return error;
    if (::lseek(memfd.get(), 0, SEEK_SET) < 0) return -errno;
    return result_of(
        ::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL));
}

int open_pidfd(int pid, unique_fd& pidfd) noexcept {
    const long made = raw_syscall(SYS_pidfd_open, pid);
    if (made < 0) return static_cast<int>(made);
    pidfd.reset(static_cast<int>(made));
    return lift(pidfd);
}

int open_file(const char* path, int flags, unsigned mode, unique_fd& file) noexcept {
    const int made = ::open(path, flags | O_CLOEXEC, mode);
    if (made < 0) return -errno;
    file.reset(made);
    return lift(file);
}

int set_nonblocking(int fd) noexcept {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0) return -errno;
    return result_of(::fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

int close_all_but(std::vector<int> keep, bool by_call) noexcept {
    std::sort(keep.begin(), keep.end());
    unsigned next = kFirstFree;
    int error = 0;
    for (const int fd : keep) {
        if (fd < kFirstFree) continue;
        const auto kept = static_cast<unsigned>(fd);
        if (kept > next && error == 0) error = close_range(next, kept - 1, by_call);
        next = kept + 1;
    }
    return error == 0 ? close_range(next, ~0U, by_call) : error;
}

}  // namespace sandpipe::sys
