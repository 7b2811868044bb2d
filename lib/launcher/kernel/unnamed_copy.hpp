#pragma once

#include <sandpipe/unique_fd.hpp>

namespace sandpipe::launcher {

/// A file of the host's that has no name any more, such as a memfd or the text of a shell's here-document, as another
/// file of the same content and with the same offset, which nobody can change. At most 64 MiB: -EFBIG beyond.
/// Otherwise 0 or -errno.
[[nodiscard]] int copy_unnamed(int file, unique_fd& copy);

}  // namespace sandpipe::launcher
