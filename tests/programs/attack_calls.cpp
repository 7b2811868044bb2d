// attack_calls NAME...: makes system calls that a sandboxed command may not make, in a form that does no harm
// if they succeed, and prints "NAME: ok" or "NAME: ERRNO" for each.
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace {

long in_child(long (*call)()) {
    int status = 0;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(call() < 0 ? errno : 0);
    ::waitpid(child, &status, 0);
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : ENOTRECOVERABLE;
    return errno ? -1 : 0;
}

long clone_with(unsigned long flags) {
    const long child = ::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) ::_exit(0);
    return child;
}

/// Of a file that exists and belongs to whoever tries.
long control_file(unsigned long request, unsigned long argument) {
    return ::syscall(SYS_fcntl, ::open("two", O_RDONLY), request, argument);
}

struct Call {
    const char* name;
    long (*make)();
};

const Call kCalls[] = {
    {"io_uring_setup",
     [] {
         io_uring_params p{};
         return ::syscall(425, 4, &p);
     }},
    {"io_uring_enter", [] { return ::syscall(426, -1, 0, 0, 0, 0, 0); }},
    {"io_uring_register", [] { return ::syscall(427, -1, 0, 0, 0); }},
    {"bpf",
     [] {
         char attr[128]{};
         return ::syscall(SYS_bpf, 0, attr, sizeof attr);
     }},
    {"keyctl", [] { return ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0); }},
    {"add_key", [] { return ::syscall(SYS_add_key, "user", "x", "y", 1, KEY_SPEC_PROCESS_KEYRING); }},
    {"request_key", [] { return ::syscall(SYS_request_key, "user", "x", 0, 0); }},
    {"userfaultfd", [] { return ::syscall(SYS_userfaultfd, 1); }},
    {"perf_event_open",
     [] {
         char attr[128]{};
         return ::syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
     }},
    {"landlock_create", [] { return ::syscall(444, 0, 0, 1); }},
    {"landlock_add", [] { return ::syscall(445, -1, 1, 0, 0); }},
    {"landlock_restrict", [] { return ::syscall(446, -1, 0); }},
    {"mount", [] { return static_cast<long>(::mount("none", "/tmp", "tmpfs", 0, "")); }},
    {"remount", [] { return static_cast<long>(::mount("none", "/etc", nullptr, MS_REMOUNT | MS_BIND, "")); }},
    {"umount", [] { return static_cast<long>(::umount2("/proc", MNT_DETACH)); }},
    {"pivot_root", [] { return ::syscall(SYS_pivot_root, "/tmp", "/tmp"); }},
    {"fsopen", [] { return ::syscall(430, "tmpfs", 0); }},
    {"open_tree", [] { return ::syscall(428, AT_FDCWD, "/", 1); }},
    {"move_mount", [] { return ::syscall(429, -1, "", -1, "", 4); }},
    {"mount_setattr",
     [] {
         unsigned long long a[4]{0, 1, 0, 0};
         return ::syscall(442, AT_FDCWD, "/etc", 0, a, sizeof a);
     }},
    {"chroot", [] { return in_child([] { return static_cast<long>(::chroot("/tmp")); }); }},
    {"setns", [] { return static_cast<long>(::setns(::open("/proc/self/ns/net", O_RDONLY), 0)); }},
    {"setns_init",
     [] {
         return static_cast<long>(::setns(static_cast<int>(::syscall(SYS_pidfd_open, 1, 0)), CLONE_NEWNS));
     }},
    {"unshare_user", [] { return in_child([] { return static_cast<long>(::unshare(CLONE_NEWUSER)); }); }},
    {"unshare_ns", [] { return in_child([] { return static_cast<long>(::unshare(CLONE_NEWNS)); }); }},
    {"unshare_net", [] { return in_child([] { return static_cast<long>(::unshare(CLONE_NEWNET)); }); }},
    {"unshare_time", [] { return in_child([] { return static_cast<long>(::unshare(0x80)); }); }},
    {"clone_user", [] { return clone_with(CLONE_NEWUSER); }},
    {"clone_user_high", [] { return clone_with(CLONE_NEWUSER | 1ul << 40); }},
    {"clone_pid", [] { return clone_with(CLONE_NEWPID); }},
    {"clone3",
     [] {
         unsigned long long a[8]{CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
         const long c = ::syscall(435, a, sizeof a);
         if (c == 0) ::_exit(0);
         return c;
     }},
    {"ptrace_init", [] { return static_cast<long>(::ptrace(PTRACE_ATTACH, 1, 0, 0)); }},
    {"seize_init", [] { return static_cast<long>(::ptrace(PTRACE_SEIZE, 1, 0, 0)); }},
    {"writev_init",
     [] {
         char b = 0;
         iovec i{&b, 1};
         return ::syscall(SYS_process_vm_readv, 1, &i, 1, &i, 1, 0);
     }},
    {"getfd_init", [] { return ::syscall(438, ::syscall(SYS_pidfd_open, 1, 0), 0, 0); }},
    {"getfd_init5", [] { return ::syscall(438, ::syscall(SYS_pidfd_open, 1, 0), 5, 0); }},
    {"kcmp_init", [] { return ::syscall(SYS_kcmp, 1, ::getpid(), 0, 0, 0); }},
    {"prlimit_init",
     [] {
         rlimit l{0, 0};
         return static_cast<long>(::prlimit(1, RLIMIT_NOFILE, &l, nullptr));
     }},
    {"handle",
     [] {
         unsigned char h[136]{128};
         int m;
         return ::syscall(SYS_name_to_handle_at, AT_FDCWD, "/etc", h, &m, 0);
     }},
    {"open_handle",
     [] {
         unsigned char h[136]{8, 0, 0, 0, 1};
         return ::syscall(SYS_open_by_handle_at, AT_FDCWD, h, O_RDONLY);
     }},
    {"fanotify", [] { return ::syscall(SYS_fanotify_init, 0, 0); }},
    {"module", [] { return ::syscall(SYS_finit_module, -1, "", 0); }},
    {"reboot", [] { return ::syscall(SYS_reboot, 0, 0, 0, 0); }},
    {"swapon", [] { return ::syscall(SYS_swapon, "/nowhere", 0); }},
    {"sethostname", [] { return static_cast<long>(::sethostname("attack", 6)); }},
    {"syslog", [] { return ::syscall(SYS_syslog, 10, 0, 0); }},
    {"iopl", [] { return ::syscall(SYS_iopl, 3); }},
    {"clock_settime", [] { return ::syscall(SYS_clock_settime, 0, nullptr); }},
    {"setuid0", [] { return in_child([] { return static_cast<long>(::setuid(::getuid() + 1)); }); }},
    {"setgroups", [] { return ::syscall(SYS_setgroups, 0, nullptr); }},
    {"capset",
     [] {
         unsigned h[2]{0x20080522, 0}, d[6]{~0u, ~0u, 0, 0, 0, 0};
         return ::syscall(SYS_capset, h, d);
     }},
    {"keepcaps", [] { return static_cast<long>(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0)); }},
    {"nnp_off", [] { return static_cast<long>(::prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0)); }},
    {"seccomp_listener", [] { return ::syscall(SYS_seccomp, 1, 8, nullptr); }},
    {"x32_getpid", [] { return in_child([] { return ::syscall(0x40000000 + SYS_getpid); }); }},
    {"x32_open",
     [] { return in_child([] { return ::syscall(0x40000000 + SYS_open, "/etc/passwd", O_RDONLY, 0); }); }},
    {"int80_getpid",
     [] {
         return in_child([] {
             long r;
             asm volatile("int $0x80" : "=a"(r) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
             errno = r < 0 ? static_cast<int>(-r) : 0;
             return r < 0 ? -1l : r;
         });
     }},
    {"tiocsti",
     [] { return static_cast<long>(::ioctl(::open("/dev/ptmx", O_RDWR | O_NOCTTY), TIOCSTI, "x")); }},
    {"tiocsti_high",
     [] { return ::syscall(SYS_ioctl, ::open("/dev/ptmx", O_RDWR | O_NOCTTY), TIOCSTI | 1ul << 32, "x"); }},
    {"tiocsti_high63",
     [] { return ::syscall(SYS_ioctl, ::open("/dev/ptmx", O_RDWR | O_NOCTTY), TIOCSTI | 1ul << 63, "x"); }},
    {"subvolume", [] { return static_cast<long>(::ioctl(::open("/", O_RDONLY), BTRFS_IOC_SUBVOL_CREATE, nullptr)); }},
    {"snapshot", [] { return ::syscall(SYS_ioctl, -1, BTRFS_IOC_SNAP_CREATE_V2 | 1ul << 32, nullptr); }},
    {"lease", [] { return control_file(F_SETLEASE, F_WRLCK); }},
    {"lease_high", [] { return control_file(F_SETLEASE | 1ul << 32, F_RDLCK); }},
    {"delegation", [] { return control_file(1040, 0); }},
    {"lease_asked", [] { return control_file(F_GETLEASE, 0); }},
    {"locked", [] { return static_cast<long>(::flock(::open("two", O_RDONLY), LOCK_EX)); }},
    {"tioclinux",
     [] {
         char c = 99;
         return ::syscall(SYS_ioctl, 0, TIOCLINUX | 1ul << 33, &c);
     }},
    {"unix_stream", [] { return static_cast<long>(::socket(AF_UNIX, SOCK_STREAM, 0)); }},
    {"unix_dgram", [] { return static_cast<long>(::socket(AF_UNIX, SOCK_DGRAM, 0)); }},
    {"unix_high", [] { return ::syscall(SYS_socket, 1ul << 32 | AF_UNIX, SOCK_DGRAM, 0); }},
    {"pair_dgram",
     [] {
         int p[2];
         return static_cast<long>(::socketpair(AF_UNIX, SOCK_DGRAM, 0, p));
     }},
    {"pair_raw",
     [] {
         int p[2];
         return static_cast<long>(::socketpair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, p));
     }},
    {"pair_dgram_high",
     [] {
         int p[2];
         return ::syscall(SYS_socketpair, AF_UNIX, 1ul << 32 | SOCK_DGRAM, 0, p);
     }},
    {"pair_stream",
     [] {
         int p[2];
         return static_cast<long>(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p));
     }},
    {"pair_seqpacket",
     [] {
         int p[2];
         return static_cast<long>(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, p));
     }},
    {"inet", [] { return static_cast<long>(::socket(AF_INET, SOCK_STREAM, 0)); }},
    {"inet6", [] { return static_cast<long>(::socket(AF_INET6, SOCK_DGRAM, 0)); }},
    {"tcp", [] { return static_cast<long>(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP)); }},
    {"udp6", [] { return static_cast<long>(::socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP)); }},
    {"sctp", [] { return static_cast<long>(::socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP)); }},
    {"sctp_high", [] { return ::syscall(SYS_socket, AF_INET6, SOCK_STREAM, 1ul << 32 | IPPROTO_SCTP); }},
    {"sctp_packets", [] { return static_cast<long>(::socket(AF_INET6, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }},
    {"dccp", [] { return static_cast<long>(::socket(AF_INET, SOCK_DCCP, 0)); }},
    {"l2tp", [] { return static_cast<long>(::socket(AF_INET, SOCK_DGRAM, 115)); }},
    {"smc", [] { return static_cast<long>(::socket(AF_INET6, SOCK_STREAM, 256)); }},
    {"inet_packet", [] { return ::syscall(SYS_socket, AF_INET, 1ul << 32 | SOCK_PACKET, 0); }},
    {"netlink", [] { return static_cast<long>(::socket(AF_NETLINK, SOCK_RAW, 0)); }},
    {"raw", [] { return static_cast<long>(::socket(AF_INET, SOCK_RAW, 1)); }},
    {"packet", [] { return static_cast<long>(::socket(AF_PACKET, SOCK_RAW, 0)); }},
    {"vsock", [] { return static_cast<long>(::socket(AF_VSOCK, SOCK_STREAM, 0)); }},
    {"alg", [] { return static_cast<long>(::socket(38, SOCK_SEQPACKET, 0)); }},
    {"bluetooth", [] { return static_cast<long>(::socket(31, SOCK_RAW, 1)); }},
    {"family_far", [] { return static_cast<long>(::socket(200, SOCK_STREAM, 0)); }},
    {"kill_init", [] { return static_cast<long>(::kill(1, SIGKILL)); }},
    {"term_init", [] { return static_cast<long>(::kill(1, SIGTERM)); }},
    {"stop_init", [] { return static_cast<long>(::kill(1, SIGSTOP)); }},
};

}  // namespace

int main(int argc, char** argv) {
    std::string report;
    for (int i = 1; i < argc; ++i)
        for (const Call& call : kCalls) {
            if (strcmp(call.name, argv[i]) != 0) continue;
            errno = 0;
            const bool worked = call.make() >= 0;
            report += std::string(call.name) + ": " + (worked ? "ok" : ::strerrorname_np(errno)) + "\n";
        }
    return ::write(1, report.data(), report.size()) == static_cast<ssize_t>(report.size()) ? 0 : 1;
}
