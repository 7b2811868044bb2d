#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstdint>

namespace sandpipe::launcher {

/// Shared by all sandboxes of a machine, held from looking until acting: a directory that another session moves in
/// between would take what is made in it to a place where it is denied. It is flock(2) on the root of the host's
/// /proc, an inode that everything outside of sandboxes has in common and no command can open; no file system shows
/// anything of it.
class MachineLock {
  public:
    enum class Use : std::uint8_t {
        shared,  ///< to make or remove names
        alone,   ///< to move them
    };

    /// `host_proc`: an O_PATH descriptor of the host's /proc. In each init, because the lock belongs to an open file
    /// description, and before it is confined. 0 or -errno.
    [[nodiscard]] int open(int host_proc) noexcept;

    /// Until its end.
    class Held {
      public:
        Held(MachineLock& lock, Use use) : lock_(lock), error_(lock.take(use)) {}
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        ~Held() {
            if (error_ == 0) lock_.give_up();
        }
        /// False after 2 s: whoever holds it may itself be held, by a file system that hangs.
        explicit operator bool() const noexcept { return error_ == 0; }

      private:
        MachineLock& lock_;
        int error_;
    };

  private:
    [[nodiscard]] int take(Use use) noexcept;
    void give_up() noexcept;

    unique_fd file_;
};

}  // namespace sandpipe::launcher
