#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstdint>

namespace sandpipe::launcher {

// landlock(7) by raw system calls: 0 or -errno.

/// The version of Landlock that this kernel offers; 0: none.
[[nodiscard]] int landlock_abi() noexcept;

/// Handles `rights`, which a kernel of version `abi` must know. What enters the domain cannot signal, nor connect to
/// abstract sockets of, what is outside of it, if the version has that.
[[nodiscard]] int make_ruleset(int abi, std::uint64_t rights, unique_fd& ruleset) noexcept;

/// Allows `rights` at `place` and below it.
[[nodiscard]] int add_rule(int ruleset, int place, std::uint64_t rights) noexcept;

/// landlock_restrict_self(2)
[[nodiscard]] int enter_domain(int ruleset) noexcept;

}  // namespace sandpipe::launcher
