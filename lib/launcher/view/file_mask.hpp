#pragma once

#include <sys/stat.h>

namespace sandpipe::launcher {

/// What is made meanwhile gets a caller's umask. It belongs to the process, which has this one thread.
class FileMask {
  public:
    explicit FileMask(mode_t mask) noexcept : before_(::umask(mask)) {}
    FileMask(const FileMask&) = delete;
    FileMask& operator=(const FileMask&) = delete;
    ~FileMask() { ::umask(before_); }

  private:
    mode_t before_;
};

}  // namespace sandpipe::launcher
