#pragma once

#include <cstddef>
#include <string>

namespace sandpipe::detail {

/// `bytes` (at most 32) of the kernel's random numbers as twice as many hex digits. Throws `Error` E_SANDBOX_FAILED
/// where the kernel gives none.
[[nodiscard]] std::string random_hex(std::size_t bytes);

}  // namespace sandpipe::detail
