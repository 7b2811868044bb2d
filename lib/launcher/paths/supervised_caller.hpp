#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sandpipe::launcher {

/// The thread that waits in a notified call, seen through /proc and its memory. All of it is what an
/// untrusted program says, and true only as long as the notification is still valid afterwards
/// (seccomp_unotify(2)). Functions return 0 or -errno.
class Caller {
  public:
    /// `file_mask`: where it is known, which saves looking.
    explicit Caller(pid_t thread, std::optional<mode_t> file_mask = {}) noexcept
        : thread_(thread), file_mask_(file_mask) {}

    [[nodiscard]] int read(std::uint64_t address, void* bytes, std::size_t size) const;
    /// A path: up to its NUL, -ENAMETOOLONG if that does not come within PATH_MAX.
    [[nodiscard]] int read_path(std::uint64_t address, std::string& path) const;
    /// The directory that a relative path starts at; AT_FDCWD means the caller's cwd.
    [[nodiscard]] int open_start(int directory, unique_fd& start) const;
    /// What descriptor `number` of the caller refers to.
    [[nodiscard]] int open_descriptor(int number, unique_fd& object) const;
    /// Whether that descriptor is one of O_PATH, which most calls refuse (open(2)).
    [[nodiscard]] bool is_path_only(int number) const;
    /// Its root, for comparison with the supervisor's own.
    [[nodiscard]] int root_mount(std::uint64_t& mount, std::uint64_t& inode) const;

    [[nodiscard]] pid_t thread() const noexcept { return thread_; }
    /// The process; 0 if it is gone.
    [[nodiscard]] pid_t process() const;
    /// 0777, which grants nothing to anybody, if it is gone and its mask is not known.
    [[nodiscard]] mode_t file_mask() const;
    /// -EFBIG, with the signal that comes with it, if `file` may not become so long (RLIMIT_FSIZE in setrlimit(2)).
    [[nodiscard]] int check_growth(int file, std::int64_t length) const;
    /// comm of the process.
    [[nodiscard]] std::string program() const;

  private:
    [[nodiscard]] bool read_short_path(std::uint64_t address, std::string& path) const;
    void read_status() const;

    pid_t thread_ = 0;
    mutable bool status_read_ = false;
    mutable pid_t process_ = 0;
    mutable std::optional<mode_t> file_mask_;
};

/// Which mount and inode `path` stands for.
[[nodiscard]] int mount_of(const char* path, std::uint64_t& mount, std::uint64_t& inode);

}  // namespace sandpipe::launcher
