#pragma once

#include <string>

#include "launcher/view/masks.hpp"

namespace sandpipe::launcher {

/// What is at `place` is covered by a read-only mount of `source`, which is the same on another mount; of itself, if
/// something has replaced one of them since they were opened. 0 or -errno, as below.
[[nodiscard]] int put_read_only(int source, int place);
/// What is at `path` becomes a read-only mount of itself.
[[nodiscard]] int bind_read_only(const std::string& path);
/// What is at `path` is covered by a mask.
[[nodiscard]] int put_mask(const Masks& masks, const std::string& path);

}  // namespace sandpipe::launcher
