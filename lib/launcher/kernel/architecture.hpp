#pragma once

#include <linux/audit.h>
#include <linux/seccomp.h>

namespace sandpipe::launcher {

#if defined(__x86_64__)
inline constexpr unsigned kNativeArchitecture = AUDIT_ARCH_X86_64;
#else
inline constexpr unsigned kNativeArchitecture = AUDIT_ARCH_AARCH64;
#endif

/// Calls of x32 say that they are x86-64's, and have this bit in their number. No other call comes near it, but -1,
/// which is none.
inline constexpr int kX32Bit = 0x40000000;

/// Whether a call follows the one convention whose numbers are those of the tables here.
[[nodiscard]] inline bool is_native(const seccomp_data& call) noexcept {
    return call.arch == kNativeArchitecture && (call.nr & kX32Bit) == 0;
}

}  // namespace sandpipe::launcher
