#include "close_range.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "raw_syscall.hpp"

// A sanitizer would have opinions on a child with a stack of its own in memory that is its parent's.
#define SANDPIPE_PLAIN [[gnu::no_sanitize("address", "undefined", "thread")]]

namespace sandpipe::sys {
namespace {

// Without /proc every number is tried: so many take a tenth of a second.
constexpr std::uint64_t kMostTried = 1 << 20;
constexpr unsigned kNoNumber = ~0U;
constexpr int kNameOffset = 19;    // getdents64(2): d_ino, d_off, d_reclen, d_type stand before the name
constexpr int kLengthOffset = 16;

SANDPIPE_PLAIN unsigned number_of(const char* name) noexcept {
    unsigned number = 0;
    const char* digit = name;
    for (; *digit >= '0' && *digit <= '9'; ++digit) number = number * 10 + static_cast<unsigned>(*digit - '0');
    return digit == name || *digit != '\0' ? kNoNumber : number;
}

/// Entries of /proc/PID/fd are found by number, so closing some on the way skips none (proc(5)).
SANDPIPE_PLAIN int close_listed(int directory, unsigned first, unsigned last) noexcept {
    alignas(8) char entries[1024];
    for (;;) {
        const long size = raw_syscall(SYS_getdents64, directory, word(entries), sizeof entries);
        if (size <= 0) return static_cast<int>(size);
        for (long at = 0; at < size;) {
            const char* entry = entries + at;
            std::uint16_t length = 0;
            __builtin_memcpy(&length, entry + kLengthOffset, sizeof length);
            const unsigned number = number_of(entry + kNameOffset);
            if (number != kNoNumber && number >= first && number <= last && static_cast<int>(number) != directory)
                raw_syscall(SYS_close, static_cast<long>(number));
            at += length;
        }
    }
}

SANDPIPE_PLAIN int close_all_numbers(unsigned first, unsigned last) noexcept {
    rlimit limit{};
    const long error = raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, word(&limit));
    if (error < 0) return static_cast<int>(error);
    if (limit.rlim_max > kMostTried) return -ENOSYS;
    for (std::uint64_t number = first; number <= last && number < limit.rlim_max; ++number)
        raw_syscall(SYS_close, static_cast<long>(number));
    return 0;
}

}  // namespace

SANDPIPE_PLAIN int close_range(unsigned first, unsigned last, bool by_call) noexcept {
    if (first > last) return 0;
    if (by_call && raw_syscall(SYS_close_range, first, last, 0) == 0) return 0;
    constexpr char kList[] = "/proc/self/fd";
    const long directory = raw_syscall(SYS_openat, AT_FDCWD, word(kList), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    // Masked, not mounted, or of another pid namespace. What the call may have closed is closed.
    if (directory < 0) return close_all_numbers(first, last);
    const int error = close_listed(static_cast<int>(directory), first, last);
    raw_syscall(SYS_close, directory);
    return error;
}

}  // namespace sandpipe::sys
