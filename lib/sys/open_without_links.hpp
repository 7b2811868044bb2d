#pragma once

#include <sandpipe/unique_fd.hpp>

namespace sandpipe::sys {

/// As `open_file` (descriptors.hpp), but -ELOOP for a symbolic link anywhere in `path`: in a path that was resolved,
/// somebody has put it there since. `mode` counts with O_CREAT only.
[[nodiscard]] int open_without_links(const char* path, int flags, unsigned mode, unique_fd& file) noexcept;

}  // namespace sandpipe::sys
