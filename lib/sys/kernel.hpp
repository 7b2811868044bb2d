#pragma once

#include <cstdint>

/// Kernel numbers and structures that Debian 12's headers do not have yet, each under the name that its
/// manual page or header uses, so that the library compiles on any libc and decides at run time what the
/// machine has.
namespace sandpipe::sys {

// landlock(7), include/uapi/linux/landlock.h
inline constexpr std::uint64_t kLandlockExecute = 1ULL << 0;
inline constexpr std::uint64_t kLandlockWriteFile = 1ULL << 1;
inline constexpr std::uint64_t kLandlockReadFile = 1ULL << 2;
inline constexpr std::uint64_t kLandlockReadDir = 1ULL << 3;
inline constexpr std::uint64_t kLandlockRemoveDir = 1ULL << 4;
inline constexpr std::uint64_t kLandlockRemoveFile = 1ULL << 5;
inline constexpr std::uint64_t kLandlockMakeChar = 1ULL << 6;
inline constexpr std::uint64_t kLandlockMakeDir = 1ULL << 7;
inline constexpr std::uint64_t kLandlockMakeReg = 1ULL << 8;
inline constexpr std::uint64_t kLandlockMakeSock = 1ULL << 9;
inline constexpr std::uint64_t kLandlockMakeFifo = 1ULL << 10;
inline constexpr std::uint64_t kLandlockMakeBlock = 1ULL << 11;
inline constexpr std::uint64_t kLandlockMakeSym = 1ULL << 12;
inline constexpr std::uint64_t kLandlockRefer = 1ULL << 13;                   // ABI 2
inline constexpr std::uint64_t kLandlockTruncate = 1ULL << 14;                // ABI 3
inline constexpr std::uint64_t kLandlockIoctlDev = 1ULL << 15;                // ABI 5
inline constexpr std::uint64_t kLandlockScopeAbstractUnixSocket = 1ULL << 0;  // ABI 6
inline constexpr std::uint64_t kLandlockScopeSignal = 1ULL << 1;              // ABI 6

struct LandlockRulesetAttr {
    std::uint64_t handled_access_fs = 0;
    std::uint64_t handled_access_net = 0;  // ABI 4
    std::uint64_t scoped = 0;              // ABI 6
};

struct [[gnu::packed]] LandlockPathBeneathAttr {
    std::uint64_t allowed_access = 0;
    std::int32_t parent_fd = -1;
};

inline constexpr unsigned kLandlockCreateRulesetVersion = 1U << 0;
inline constexpr int kLandlockRulePathBeneath = 1;

// seccomp(2), include/uapi/linux/seccomp.h
inline constexpr unsigned long kSeccompFilterFlagNewListener = 1UL << 3;
inline constexpr unsigned long kSeccompFilterFlagWaitKillableRecv = 1UL << 5;  // 5.19

// clone(2)
inline constexpr unsigned long kCloneNewNs = 0x00020000;
inline constexpr unsigned long kCloneNewCgroup = 0x02000000;
inline constexpr unsigned long kCloneNewUts = 0x04000000;
inline constexpr unsigned long kCloneNewIpc = 0x08000000;
inline constexpr unsigned long kCloneNewUser = 0x10000000;
inline constexpr unsigned long kCloneNewPid = 0x20000000;
inline constexpr unsigned long kCloneNewNet = 0x40000000;
inline constexpr unsigned long kCloneNewTime = 0x00000080;

// socket(2): a packet the kernel could not carry because too many descriptors are under way has errno
// ETOOMANYREFS.

// pidfd_open(2): of a thread, since 6.9.
inline constexpr unsigned kPidfdThread = 0200;  // O_EXCL
// socket(7): which network namespace a socket is of, since 5.14.
inline constexpr int kSoNetnsCookie = 71;

}  // namespace sandpipe::sys
