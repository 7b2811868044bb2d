#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sandpipe/unique_fd.hpp>

#include <cerrno>

#include "launcher/kernel/own_descriptor.hpp"

namespace sandpipe::launcher {

/// The lock that the supervisors of one session share, held by flock(2) of a common file from looking until acting. The
/// kernel gives it up when its holder dies.
class SessionLock {
  public:
    /// -1: there is nobody to share with. The file must stay open.
    explicit SessionLock(int session_file) noexcept : session_file_(session_file) {}

    /// Until its end.
    class Held {
      public:
        explicit Held(SessionLock& lock) : lock_(lock), error_(lock.take()) {}
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        ~Held() {
            if (error_ == 0 && lock_.own_) ::flock(lock_.own_.get(), LOCK_UN);
        }
        /// False where it could not be had.
        explicit operator bool() const noexcept { return error_ == 0; }

      private:
        SessionLock& lock_;
        int error_;
    };

  private:
    int take() {
        if (session_file_ < 0) return 0;
        // flock(2) locks belong to an open file description, and the inherited one is the whole session's.
        if (!own_) own_.reset(::open(OwnDescriptor(session_file_).path(), O_RDONLY | O_CLOEXEC));
        if (!own_) return -errno;
        while (::flock(own_.get(), LOCK_EX) < 0)
            if (errno != EINTR) return -errno;
        return 0;
    }

    int session_file_;
    unique_fd own_;
};

}  // namespace sandpipe::launcher
