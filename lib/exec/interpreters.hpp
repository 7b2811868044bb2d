#pragma once

#include <string_view>

namespace sandpipe {

/// Whether a program of this name (without directories) is known to run what its arguments or its input say: shells,
/// script languages, and tools that start other programs. A version at the end ("python3.11") does not matter.
[[nodiscard]] bool is_interpreter(std::string_view name) noexcept;

}  // namespace sandpipe
