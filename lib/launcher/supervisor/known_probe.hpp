#pragma once

#include <string_view>

namespace sandpipe::launcher {

/// Whether a refused act at `place` is one that programs try on the way, without being asked to and without missing it:
/// caches beside libraries, name services. Pure.
[[nodiscard]] bool is_known_probe(std::string_view operation, std::string_view place) noexcept;

}  // namespace sandpipe::launcher
