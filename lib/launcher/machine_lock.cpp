#include "launcher/machine_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include <cerrno>

namespace sandpipe::launcher {
namespace {

constexpr int kMostTries = 20'000;
constexpr timespec kPause{0, 100'000};

}  // namespace

int MachineLock::open(int host_proc) noexcept {
    file_.reset(::openat(host_proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return file_ ? 0 : -errno;
}

int MachineLock::take(Use use) noexcept {
    const int operation = (use == Use::alone ? LOCK_EX : LOCK_SH) | LOCK_NB;
    for (int tries = 0; ::flock(file_.get(), operation) < 0; ++tries) {
        if (errno != EWOULDBLOCK && errno != EINTR) return -errno;
        if (tries == kMostTries) return -EBUSY;
        ::nanosleep(&kPause, nullptr);
    }
    return 0;
}

void MachineLock::give_up() noexcept { ::flock(file_.get(), LOCK_UN); }

}  // namespace sandpipe::launcher
