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

/// Until its end this thread's capabilities have no effect: it may do what commands of its user may.
class WithoutCapabilities {
  public:
    WithoutCapabilities() noexcept;
    WithoutCapabilities(const WithoutCapabilities&) = delete;
    WithoutCapabilities& operator=(const WithoutCapabilities&) = delete;
    ~WithoutCapabilities();
    /// False where they could not be laid aside.
    explicit operator bool() const noexcept { return aside_; }

  private:
    std::uint64_t before_ = 0;
    bool aside_ = false;
};

}  // namespace sandpipe::launcher
