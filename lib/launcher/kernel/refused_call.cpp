#include "launcher/kernel/refused_call.hpp"

#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/ioprio.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>

#include "sys/kernel.hpp"

namespace sandpipe::launcher {
namespace {

// From 424 on a system call has the same number everywhere; libseccomp's headers do not have these yet.
constexpr int kOpenTreeAttr = 467;

// A list of what is refused, not of what is allowed: libraries try new calls first and fall back only on
// ENOSYS, so a list of allowed calls breaks programs with every kernel. A call that is newer than this table
// meets the same walls as the others: no capabilities, read-only mounts, a Landlock domain without any right
// to make names, namespaces of its own. What stands here can do harm in spite of them, or only exposes more
// of the kernel.
constexpr RefusedCall kRefusedCalls[] = {
    // other views of the file system
    {SCMP_SYS(mount), EPERM},
    {SCMP_SYS(umount2), EPERM},
    {SCMP_SYS(pivot_root), EPERM},
    {SCMP_SYS(fsopen), EPERM},
    {SCMP_SYS(fsconfig), EPERM},
    {SCMP_SYS(fsmount), EPERM},
    {SCMP_SYS(fspick), EPERM},
    {SCMP_SYS(move_mount), EPERM},
    {SCMP_SYS(open_tree), EPERM},
    {SCMP_SYS(mount_setattr), EPERM},
    {kOpenTreeAttr, EPERM},
    {SCMP_SYS(setns), EPERM},
    // files by other means than their path
    {SCMP_SYS(name_to_handle_at), EPERM},
    {SCMP_SYS(open_by_handle_at), EPERM},
    {SCMP_SYS(fanotify_init), EPERM},
    {SCMP_SYS(lookup_dcookie), EPERM},
    {SCMP_SYS(nfsservctl), EPERM},
    {SCMP_SYS(quotactl), EPERM},
    {SCMP_SYS(quotactl_fd), EPERM},
    // its argument is in memory, where it can change after a look at it; glibc then uses clone
    {SCMP_SYS(clone3), ENOSYS, Told::nobody},
    // system calls that no filter sees
    {SCMP_SYS(io_uring_setup), ENOSYS, Told::probe},
    {SCMP_SYS(io_uring_enter), ENOSYS, Told::probe},
    {SCMP_SYS(io_uring_register), ENOSYS, Told::probe},
    // a domain of its own would bind the command but not the supervisor that acts for it
    {SCMP_SYS(landlock_create_ruleset), EOPNOTSUPP, Told::probe},
    {SCMP_SYS(landlock_add_rule), EOPNOTSUPP, Told::probe},
    {SCMP_SYS(landlock_restrict_self), EOPNOTSUPP, Told::probe},
    // keyrings are the user's, in every namespace
    {SCMP_SYS(keyctl), EPERM},
    {SCMP_SYS(add_key), EPERM},
    {SCMP_SYS(request_key), EPERM},
    // much kernel behind one call
    {SCMP_SYS(bpf), EPERM},
    {SCMP_SYS(perf_event_open), EPERM},
    {SCMP_SYS(userfaultfd), EPERM},
    // the machine
    {SCMP_SYS(kexec_load), EPERM},
    {SCMP_SYS(kexec_file_load), EPERM},
    {SCMP_SYS(init_module), EPERM},
    {SCMP_SYS(finit_module), EPERM},
    {SCMP_SYS(delete_module), EPERM},
    {SCMP_SYS(reboot), EPERM},
    {SCMP_SYS(swapon), EPERM},
    {SCMP_SYS(swapoff), EPERM},
    {SCMP_SYS(acct), EPERM},
    {SCMP_SYS(settimeofday), EPERM},
    {SCMP_SYS(clock_settime), EPERM},
    {SCMP_SYS(iopl), EPERM},
    {SCMP_SYS(ioperm), EPERM},
    {SCMP_SYS(syslog), EPERM},
    {SCMP_SYS(vhangup), EPERM},
    {SCMP_SYS(uselib), EPERM},
};

constexpr std::uint64_t kInt = 0xffffffff;
constexpr std::uint64_t kRequestType = _IOC_TYPEMASK << _IOC_TYPESHIFT;
constexpr std::uint64_t kBcachefs = 0xbc << _IOC_TYPESHIFT;  // subvolumes among them, by paths
constexpr std::uint64_t kOcfs2Reflink = 0x40186f04;  // of fs/ocfs2/ocfs2_ioctl.h: a copy with a name
constexpr int kSetDelegation = 1040;  // F_SETDELEG, since 6.19
constexpr const char* kInit = "process 1, which is the sandbox's own";
constexpr const char* kAllOfUser = "all processes of the user";
constexpr RefusedArgument kRefusedArguments[] = {
    // keystrokes for whoever reads the terminal next
    {SCMP_SYS(ioctl), 1, kInt, TIOCSTI, EPERM, "TIOCSTI"},
    {SCMP_SYS(ioctl), 1, kInt, TIOCLINUX, EPERM, "TIOCLINUX"},
    // names that file systems make and remove unasked: no other call does, and Landlock is not told
    {SCMP_SYS(ioctl), 1, kInt, BTRFS_IOC_SUBVOL_CREATE, EPERM, "BTRFS_IOC_SUBVOL_CREATE"},
    {SCMP_SYS(ioctl), 1, kInt, BTRFS_IOC_SUBVOL_CREATE_V2, EPERM, "BTRFS_IOC_SUBVOL_CREATE"},
    {SCMP_SYS(ioctl), 1, kInt, BTRFS_IOC_SNAP_CREATE, EPERM, "BTRFS_IOC_SNAP_CREATE"},
    {SCMP_SYS(ioctl), 1, kInt, BTRFS_IOC_SNAP_CREATE_V2, EPERM, "BTRFS_IOC_SNAP_CREATE"},
    {SCMP_SYS(ioctl), 1, kInt, BTRFS_IOC_SNAP_DESTROY, EPERM, "BTRFS_IOC_SNAP_DESTROY"},
    {SCMP_SYS(ioctl), 1, kInt, BTRFS_IOC_SNAP_DESTROY_V2, EPERM, "BTRFS_IOC_SNAP_DESTROY"},
    {SCMP_SYS(ioctl), 1, kInt, kOcfs2Reflink, EPERM, "OCFS2_IOC_REFLINK"},
    {SCMP_SYS(ioctl), 1, kRequestType, kBcachefs, EPERM, "an ioctl of bcachefs"},
    // whoever opens a file waits for those who have a lease of it, for which they only need to read it
    {SCMP_SYS(fcntl), 1, kInt, F_SETLEASE, EACCES, "F_SETLEASE"},
    {SCMP_SYS(fcntl), 1, kInt, kSetDelegation, EACCES, "F_SETDELEG"},
    // the init, which is of the same user: it serves the commands that come after this one
    {SCMP_SYS(prlimit64), 0, kInt, 1, EPERM, kInit},
    {SCMP_SYS(sched_setaffinity), 0, kInt, 1, EPERM, kInit},
    {SCMP_SYS(sched_setattr), 0, kInt, 1, EPERM, kInit},
    {SCMP_SYS(sched_setparam), 0, kInt, 1, EPERM, kInit},
    {SCMP_SYS(sched_setscheduler), 0, kInt, 1, EPERM, kInit},
    {SCMP_SYS(setpriority), 1, kInt, 1, EPERM, kInit},
    {SCMP_SYS(setpriority), 0, kInt, PRIO_USER, EPERM, kAllOfUser},
    {SCMP_SYS(ioprio_set), 1, kInt, 1, EPERM, kInit},
    {SCMP_SYS(ioprio_set), 0, kInt, IOPRIO_WHO_USER, EPERM, kAllOfUser},
};

// unshare(2) and clone(2); a new time namespace is unshare's only.
constexpr NewNamespace kNewNamespaces[] = {
    {sys::kCloneNewNs, "no new mount namespace"},     {sys::kCloneNewCgroup, "no new cgroup namespace"},
    {sys::kCloneNewUts, "no new UTS namespace"},      {sys::kCloneNewIpc, "no new IPC namespace"},
    {sys::kCloneNewUser, "no new user namespace"},    {sys::kCloneNewPid, "no new pid namespace"},
    {sys::kCloneNewNet, "no new network namespace"},
};

// A socket of another family may lead out of the network namespace (vsock) or be rarely tested kernel.
constexpr int kSocketFamilies[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

constexpr std::uint64_t kUnixTypes[] = {SOCK_STREAM, SOCK_SEQPACKET};

// SOCK_SEQPACKET is SCTP, and SOCK_DCCP what its name says. SCTP also comes as a stream.
constexpr std::uint64_t kInetTypes[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW};
constexpr int kSmcOverInet = 256;  // IPPROTO_SMC, since Linux 6.11
constexpr int kRefusedInetProtocols[] = {IPPROTO_SCTP, kL2tp, kSmcOverInet};

template <typename Values>
constexpr bool contains(const Values& values, std::uint64_t wanted) {
    for (const auto value : values)
        if (static_cast<std::uint64_t>(value) == wanted) return true;
    return false;
}

constexpr bool listed_once() {
    for (const RefusedCall& call : kRefusedCalls) {
        int times = 0;
        for (const RefusedCall& other : kRefusedCalls) times += call.number == other.number ? 1 : 0;
        if (times != 1) return false;
    }
    return true;
}
static_assert(listed_once(), "an unconditional rule would hide another");

Refusal namespace_refusal(const seccomp_data& call) noexcept {
    for (const NewNamespace& made : kNewNamespaces)
        if (call.args[0] & made.flag) return {EPERM, false, made.name};
    const bool makes_time = call.nr == __NR_unshare && (call.args[0] & sys::kCloneNewTime);
    return makes_time ? Refusal{EPERM, false, "no new time namespace"} : Refusal{};
}

Refusal inet_refusal(const seccomp_data& call) noexcept {
    constexpr const char* kRule = "only TCP, UDP and ICMP of IPv4 and IPv6";
    if (!is_inet_socket_type(call.args[1])) return {ESOCKTNOSUPPORT, false, kRule};
    if (contains(kRefusedInetProtocols, call.args[2] & kInt)) return {EPROTONOSUPPORT, false, kRule};
    return {};
}

Refusal socket_refusal(const seccomp_data& call) noexcept {
    const int family = static_cast<int>(call.args[0]);
    const bool exists = call.nr == __NR_socketpair ? family == AF_UNIX : is_socket_family(family);
    if (!exists) return {EAFNOSUPPORT, false, "only UNIX, IPv4, IPv6 and netlink sockets"};
    if (is_inet_family(family)) return inet_refusal(call);
    if (family != AF_UNIX || is_unix_socket_type(call.args[1])) return {};
    return {EACCES, false, "only stream and seqpacket UNIX sockets"};
}

/// Asked about only where execution is restricted.
Refusal personality_refusal(const seccomp_data& call) noexcept {
    const std::uint64_t persona = call.args[0] & kInt;
    const bool asks_only = persona == kInt;
    if (asks_only || !(persona & READ_IMPLIES_EXEC)) return {};
    return {EPERM, false, "allowExecute"};
}

}  // namespace

std::span<const RefusedCall> refused_calls() { return kRefusedCalls; }
std::span<const RefusedArgument> refused_arguments() { return kRefusedArguments; }
std::span<const NewNamespace> new_namespaces() { return kNewNamespaces; }

bool is_socket_family(int family) noexcept {
    return contains(kSocketFamilies, static_cast<std::uint64_t>(family));
}

bool is_unix_socket_type(std::uint64_t type) noexcept { return contains(kUnixTypes, type & kSocketTypeMask); }

bool is_inet_family(int family) noexcept { return family == AF_INET || family == AF_INET6; }
bool is_inet_socket_type(std::uint64_t type) noexcept { return contains(kInetTypes, type & kSocketTypeMask); }
std::span<const int> refused_inet_protocols() noexcept { return kRefusedInetProtocols; }

Refusal refusal_of(const seccomp_data& call) noexcept {
    if (call.nr == __NR_socket || call.nr == __NR_socketpair) return socket_refusal(call);
    if (call.nr == __NR_clone || call.nr == __NR_unshare) return namespace_refusal(call);
    if (call.nr == __NR_personality) return personality_refusal(call);
    for (const RefusedCall& row : kRefusedCalls)
        if (row.number == call.nr) return {row.error, row.told == Told::probe};
    for (const RefusedArgument& row : kRefusedArguments)
        if (row.number == call.nr && (call.args[row.argument] & row.mask) == row.value) return {row.error, false, row.what};
    return {};
}

}  // namespace sandpipe::launcher
