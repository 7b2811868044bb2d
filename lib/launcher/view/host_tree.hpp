#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sandpipe::launcher {

/// Files of the host's that a command has by descriptors, and not on mounts of the session's.
class ForeignFiles {
  public:
    /// Says so of all that is on the mount of `object`, or, if that has no name, of itself: a mount of the kernel's own
    /// has what commands make, too.
    void add(int object);
    [[nodiscard]] bool has(int object) const;
    /// Whether it is one of those that were added, on whatever mount.
    [[nodiscard]] bool is_stream(int object) const;

  private:
    using Inode = std::pair<dev_t, ino_t>;

    std::vector<std::uint64_t> mounts_;  // numbers (statx(2))
    std::vector<Inode> unnamed_;
    std::vector<Inode> streams_;  // all of them
};

/// The host's files as a session must not see them by name, on read-only mounts. What a command gets as a standard
/// stream was opened outside, on mounts that know nothing of the session: by such a descriptor, or its link in /proc,
/// the command could change the file's mode, owner and times, open it for writing, or leave from a directory to
/// everywhere; and what the supervisor judges can be exchanged before the kernel looks at it. So it gets another
/// descriptor of the same file. Functions return 0 or -errno.
class HostTree {
  public:
    /// In the cell, before anything is hidden. A second way to all of the host's files: no command may ever have it.
    [[nodiscard]] int take(int root);
    /// For the inits, which keep it.
    [[nodiscard]] int descriptor() const noexcept { return root_.get(); }

    /// In an init: opens again what `stream` is, in the session's own view where it is the same there. Pipes and
    /// sockets stay, and so does what the caller's user cannot change. A file for reading that has no name (any more)
    /// becomes a copy. What was opened for writing is granted: a file stays, a device or FIFO stays where it cannot
    /// be opened again. What is not on a mount of the session's afterwards is added to `foreign`. -EISDIR for a
    /// directory, -EBADF for O_PATH, -EFBIG for what is too much to be copied; another error, but never -EACCES, for
    /// what was opened for reading and cannot be opened again.
    [[nodiscard]] int confine(unique_fd& stream, ForeignFiles& foreign) const;

  private:
    [[nodiscard]] static int replace_unnamed(int stream, const struct stat& status, int error, unique_fd& copy,
                                             bool& is_own);
    [[nodiscard]] int open_again(int stream, const struct stat& status, unique_fd& again, bool& is_own) const;

    unique_fd root_;
};

}  // namespace sandpipe::launcher
