#include "open_without_links.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "descriptors.hpp"
#include "raw_syscall.hpp"

namespace sandpipe::sys {

int open_without_links(const char* path, int flags, unsigned mode, unique_fd& file) noexcept {
    open_how how{};
    how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
    how.mode = flags & O_CREAT ? mode : 0;
    how.resolve = RESOLVE_NO_SYMLINKS;
    const long made = raw_syscall(SYS_openat2, AT_FDCWD, word(path), word(&how), sizeof how);
    if (made < 0) return static_cast<int>(made);
    file.reset(static_cast<int>(made));
    return lift(file);
}

}  // namespace sandpipe::sys
