#pragma once

#include <cstdio>

namespace sandpipe::launcher {

/// /proc/self/fd/N: the very file that a descriptor of this process is of, by a path.
class OwnDescriptor {
  public:
    explicit OwnDescriptor(int number) noexcept { std::snprintf(text_, sizeof text_, "/proc/self/fd/%d", number); }
    [[nodiscard]] const char* path() const noexcept { return text_; }

  private:
    char text_[32];
};

}  // namespace sandpipe::launcher
