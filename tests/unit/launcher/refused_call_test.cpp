#include "launcher/kernel/refused_call.hpp"

#include <gtest/gtest.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>

#include "launcher/supervisor/known_probe.hpp"
#include "launcher/supervisor/socket_words.hpp"

namespace sandpipe::launcher {
namespace {

Refusal refusal(int number, std::uint64_t first = 0, std::uint64_t second = 0, std::uint64_t third = 0) {
    seccomp_data call{};
    call.nr = number;
    call.args[0] = first;
    call.args[1] = second;
    call.args[2] = third;
    return refusal_of(call);
}

TEST(RefusedCall, SaysHowItEnds) {
    EXPECT_EQ(refusal(__NR_mount).error, EPERM);
    EXPECT_FALSE(refusal(__NR_mount).probe);
    EXPECT_EQ(refusal(__NR_io_uring_setup).error, ENOSYS);
    EXPECT_TRUE(refusal(__NR_io_uring_setup).probe);
    EXPECT_EQ(refusal(__NR_getpid).error, 0);
}

TEST(RefusedCall, LooksAtTheBitsThatTheKernelLooksAt) {
    EXPECT_EQ(refusal(__NR_ioctl, 0, TIOCSTI).error, EPERM);
    EXPECT_EQ(refusal(__NR_ioctl, 0, TIOCSTI | 1ULL << 32).error, EPERM);
    EXPECT_EQ(refusal(__NR_ioctl, 0, BTRFS_IOC_SNAP_DESTROY_V2 | 7ULL << 40).error, EPERM);
    EXPECT_EQ(refusal(__NR_ioctl, 0, _IOW(0xbc, 16, char[32])).error, EPERM);
    EXPECT_EQ(refusal(__NR_ioctl, 0, TIOCGWINSZ).error, 0);
    EXPECT_EQ(refusal(__NR_fcntl, 0, F_SETLEASE | 1ULL << 32).error, EACCES);
    EXPECT_EQ(refusal(__NR_fcntl, 0, F_GETLEASE).error, 0);
    EXPECT_EQ(refusal(__NR_fcntl, 0, F_SETLK).error, 0);
    EXPECT_EQ(refusal(__NR_ioctl, 0, FICLONE).error, 0) << "btrfs's, for all file systems";
    EXPECT_EQ(refusal(__NR_ioctl, 0, FS_IOC_SETFLAGS).error, 0);
    EXPECT_EQ(refusal(__NR_unshare, CLONE_NEWUSER | CLONE_FS).error, EPERM);
    EXPECT_EQ(refusal(__NR_unshare, CLONE_FS).error, 0);
    EXPECT_EQ(refusal(__NR_unshare, 0x80).error, EPERM) << "a time namespace";
    EXPECT_EQ(refusal(__NR_clone, 0x80).error, 0) << "part of the exit signal";
}

TEST(RefusedCall, SaysWhatWasAsked) {
    EXPECT_STREQ(refusal(__NR_ioctl, 0, TIOCSTI).rule, "TIOCSTI");
    EXPECT_STREQ(refusal(__NR_unshare, CLONE_NEWUSER | CLONE_FS).rule, "no new user namespace");
    EXPECT_STREQ(refusal(__NR_unshare, 0x80).rule, "no new time namespace");
    seccomp_data call{};
    call.args[0] = AF_PACKET;
    call.args[1] = SOCK_RAW | SOCK_CLOEXEC;
    EXPECT_EQ(socket_words(call), "AF_PACKET, SOCK_RAW");
    call.args[0] = 1ULL << 32 | 47;
    call.args[1] = 9;
    EXPECT_EQ(socket_words(call), "family 47, type 9");
}

TEST(RefusedCall, WhatIsReadBecomesExecutableUnasked) {
    EXPECT_EQ(refusal(__NR_personality, READ_IMPLIES_EXEC).error, EPERM);
    EXPECT_EQ(refusal(__NR_personality, 0xfffffffe).error, EPERM);
    EXPECT_EQ(refusal(__NR_personality, 0xffffffff).error, 0) << "asks what it is";
    EXPECT_EQ(refusal(__NR_personality, 0).error, 0);
    EXPECT_EQ(refusal(__NR_personality, ADDR_NO_RANDOMIZE).error, 0);
}

TEST(RefusedCall, SocketsThatExist) {
    EXPECT_EQ(refusal(__NR_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK).error, 0);
    EXPECT_EQ(refusal(__NR_socket, AF_UNIX, SOCK_SEQPACKET).error, 0);
    EXPECT_EQ(refusal(__NR_socket, AF_UNIX, SOCK_DGRAM).error, EACCES);
    EXPECT_EQ(refusal(__NR_socket, AF_UNIX, SOCK_RAW | SOCK_CLOEXEC).error, EACCES)
        << "the kernel makes a datagram one of it";
    EXPECT_EQ(refusal(__NR_socketpair, AF_UNIX, SOCK_DGRAM).error, EACCES);
    EXPECT_EQ(refusal(__NR_socket, AF_INET, SOCK_DGRAM).error, 0);
    EXPECT_EQ(refusal(__NR_socketpair, AF_INET, SOCK_STREAM).error, EAFNOSUPPORT);
    EXPECT_EQ(refusal(__NR_socket, AF_VSOCK, SOCK_STREAM).error, EAFNOSUPPORT);
    EXPECT_EQ(refusal(__NR_socket, 1ULL << 32 | AF_VSOCK, SOCK_STREAM).error, EAFNOSUPPORT);
}

TEST(RefusedCall, OfIpOnlyWhatEveryoneUses) {
    constexpr std::uint64_t kHigh = 1ULL << 32;
    for (const int family : {AF_INET, AF_INET6}) {
        EXPECT_EQ(refusal(__NR_socket, family, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP).error, 0);
        EXPECT_EQ(refusal(__NR_socket, family, SOCK_STREAM, IPPROTO_MPTCP).error, 0);
        EXPECT_EQ(refusal(__NR_socket, family, SOCK_DGRAM, IPPROTO_UDP).error, 0);
        EXPECT_EQ(refusal(__NR_socket, family, SOCK_DGRAM, IPPROTO_ICMP).error, 0);
        EXPECT_EQ(refusal(__NR_socket, family, SOCK_STREAM, IPPROTO_SCTP).error, EPROTONOSUPPORT);
        EXPECT_EQ(refusal(__NR_socket, kHigh | family, SOCK_STREAM, kHigh | IPPROTO_SCTP).error, EPROTONOSUPPORT);
        EXPECT_EQ(refusal(__NR_socket, family, kHigh | SOCK_SEQPACKET | SOCK_CLOEXEC).error, ESOCKTNOSUPPORT);
    }
    EXPECT_EQ(refusal(__NR_socket, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC).error, 0);
}

TEST(KnownProbe, IsWhatProgramsDoUnasked) {
    EXPECT_TRUE(is_known_probe("open", "/usr/lib/python3/__pycache__/os.cpython-311.pyc.123"));
    EXPECT_TRUE(is_known_probe("mkdir", "/opt/x/__pycache__"));
    EXPECT_FALSE(is_known_probe("open", "/opt/my__pycache__/x"));
    EXPECT_FALSE(is_known_probe("open", "/opt/__pycache__x"));
    EXPECT_TRUE(is_known_probe("open", "/proc/19/coredump_filter"));
    EXPECT_FALSE(is_known_probe("open", "/proc/19/oom_score_adj"));
    EXPECT_TRUE(is_known_probe("connect", "/run/nscd/socket"));
    EXPECT_FALSE(is_known_probe("unlink", "/run/nscd/socket"));
    EXPECT_FALSE(is_known_probe("connect", "/run/docker.sock"));
    EXPECT_FALSE(is_known_probe("open", ""));
}

}  // namespace
}  // namespace sandpipe::launcher
