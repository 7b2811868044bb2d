#include "output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace sandpipe::cli {
namespace {

// After a second signal a reader that takes nothing for this long has lost what is left.
constexpr int kSignalsForHurry = 2;
constexpr int kHurryMilliseconds = 500;

std::error_code system_error_code(int error) { return {error, std::system_category()}; }

bool in_a_hurry(const Interrupts* interrupts) {
    return interrupts && interrupts->count() >= kSignalsForHurry;
}

// Waits until `fd` takes something or a signal comes. 0, EAGAIN or another errno.
int wait_for(int fd, Interrupts* interrupts) {
    std::array<pollfd, 2> waits{pollfd{fd, POLLOUT, 0},
                                pollfd{interrupts ? interrupts->descriptor() : -1, POLLIN, 0}};
    const bool hurry = in_a_hurry(interrupts);
    const int ready = ::poll(waits.data(), waits.size(), hurry ? kHurryMilliseconds : -1);
    if (ready < 0) return errno == EINTR ? EAGAIN : errno;
    if (ready == 0) return ECANCELED;
    if (waits[1].revents != 0) interrupts->take();
    // An error of the descriptor is left to write(2), which says what it is.
    return waits[0].revents == 0 ? EAGAIN : 0;
}

}  // namespace

void reserve_standard_descriptors() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) continue;
        // The lowest free number is `fd`. stdout is open the wrong way round and gives EBADF, as if it were closed;
        // stdin is empty, and who closes stderr wants no messages, and gets none.
        static_cast<void>(::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY));
    }
}

std::error_code write_fully(int fd, std::string_view bytes, Interrupts* interrupts) {
    while (!bytes.empty()) {
        const int error = wait_for(fd, interrupts);
        if (error == EAGAIN) continue;
        if (error != 0) return system_error_code(error);
        // A pipe that poll(2) calls writable takes this many bytes without blocking: pipe(7).
        const ssize_t written = ::write(fd, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
        if (written >= 0) bytes.remove_prefix(static_cast<std::size_t>(written));
        if (written < 0 && errno != EINTR && errno != EAGAIN) return system_error_code(errno);
    }
    return {};
}

bool output_is_one_place() {
    struct stat out {};
    struct stat err {};
    if (::fstat(STDOUT_FILENO, &out) < 0 || ::fstat(STDERR_FILENO, &err) < 0) return false;
    return out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

}  // namespace sandpipe::cli
