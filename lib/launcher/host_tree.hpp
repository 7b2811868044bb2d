#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sandpipe::launcher {

/// Numbers of mounts (statx(2)).
using MountIds = std::vector<std::uint64_t>;
/// Whether `object` is on one of them.
[[nodiscard]] bool is_on_any(const MountIds& mounts, int object);

/// The host's files as a session must not see them by name, on read-only mounts. What a command gets as a standard stream
/// was opened outside, on mounts that know nothing of the session: by such a descriptor, or its link in /proc, the command
/// could change the file's mode, owner and times, open it for writing, or leave from a directory to everywhere; and what
/// the supervisor judges can be exchanged before the kernel looks at it. So it gets another descriptor of the same file.
/// Functions return 0 or -errno.
class HostTree {
  public:
    /// In the cell, before anything is hidden. A second way to all of the host's files: no command may ever have it.
    [[nodiscard]] int take(int root);
    /// For the inits, which keep it.
    [[nodiscard]] int descriptor() const noexcept { return root_.get(); }

    /// In an init: opens again what `stream` is, in the session's own view where it is the same there. What has no name
    /// (pipes, sockets, memfds) stays, and so does what the caller's user cannot change. What was opened for writing is
    /// granted: a file stays, a device or FIFO stays where it cannot be opened again. What is not on a mount of the
    /// session's afterwards adds that to `foreign`. -EISDIR for a directory; another error for what was opened for reading
    /// and cannot be opened again.
    [[nodiscard]] int confine(unique_fd& stream, MountIds& foreign) const;

  private:
    [[nodiscard]] int open_again(int stream, const struct stat& status, unique_fd& again, bool& is_own) const;

    unique_fd root_;
};

}  // namespace sandpipe::launcher
