#pragma once

#include <cstdint>

namespace sandpipe::launcher {

// Raw system calls that return 0 or -errno: they also run in a child that shares its init's memory.

/// Empties the capability bounding set. Needs CAP_SETPCAP, unless it is empty already: so it comes before
/// `keep_capabilities`.
[[nodiscard]] int empty_bounding_set() noexcept;
/// Keeps exactly these as permitted and effective; none is inheritable, and with that none ambient
/// (capabilities(7)).
[[nodiscard]] int keep_capabilities(std::uint64_t mask) noexcept;
[[nodiscard]] int set_no_new_privs() noexcept;

}  // namespace sandpipe::launcher
