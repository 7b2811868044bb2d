#pragma once

#include <cstdint>

namespace sandpipe {

/// The right that was missing.
enum class DenialKind : std::uint8_t { write, read, exec, connect, domain, socket, syscall };

}  // namespace sandpipe
