#include "launcher/seccomp_filter.hpp"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sandpipe/unique_fd.hpp>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>

#include "launcher/notified_call.hpp"
#include "sys/kernel.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

// From 424 on a system call has the same number everywhere; libseccomp's headers do not have these yet.
constexpr int kOpenTreeAttr = 467;

struct RefusedCall {
    int number;
    int error;
};

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
    {SCMP_SYS(clone3), ENOSYS},
    // system calls that no filter sees
    {SCMP_SYS(io_uring_setup), ENOSYS},
    {SCMP_SYS(io_uring_enter), ENOSYS},
    {SCMP_SYS(io_uring_register), ENOSYS},
    // a domain of its own would bind the command but not the supervisor that acts for it
    {SCMP_SYS(landlock_create_ruleset), EOPNOTSUPP},
    {SCMP_SYS(landlock_add_rule), EOPNOTSUPP},
    {SCMP_SYS(landlock_restrict_self), EOPNOTSUPP},
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

/// A call that is refused when (argument & mask) == value. The mask is what the kernel looks at: an `int` or
/// `unsigned` is the low half of a register, whatever stands in the high one.
struct RefusedArgument {
    int number;
    unsigned argument;
    std::uint64_t mask;
    std::uint64_t value;
    int error;
};

constexpr std::uint64_t kInt = 0xffffffff;
constexpr RefusedArgument kRefusedArguments[] = {
    // keystrokes for whoever reads the terminal next
    {SCMP_SYS(ioctl), 1, kInt, TIOCSTI, EPERM},
    {SCMP_SYS(ioctl), 1, kInt, TIOCLINUX, EPERM},
    // the init, which is of the same user: it serves the commands that come after this one
    {SCMP_SYS(prlimit64), 0, kInt, 1, EPERM},
    {SCMP_SYS(sched_setaffinity), 0, kInt, 1, EPERM},
    {SCMP_SYS(sched_setattr), 0, kInt, 1, EPERM},
    {SCMP_SYS(sched_setparam), 0, kInt, 1, EPERM},
    {SCMP_SYS(sched_setscheduler), 0, kInt, 1, EPERM},
    {SCMP_SYS(setpriority), 1, kInt, 1, EPERM},
    {SCMP_SYS(setpriority), 0, kInt, PRIO_USER, EPERM},
    {SCMP_SYS(ioprio_set), 1, kInt, 1, EPERM},
    {SCMP_SYS(ioprio_set), 0, kInt, IOPRIO_WHO_USER, EPERM},
    // sockets in the file system lead to the host's services
    {SCMP_SYS(socket), 0, kInt, AF_UNIX, EACCES},
};

// unshare(2) and clone(2); a new time namespace is unshare's only.
constexpr std::uint64_t kNewNamespaces[] = {
    sys::kCloneNewNs,   sys::kCloneNewCgroup, sys::kCloneNewUts, sys::kCloneNewIpc,
    sys::kCloneNewUser, sys::kCloneNewPid,    sys::kCloneNewNet,
};

// A socket of another family may lead out of the network namespace (vsock) or be rarely tested kernel.
constexpr int kSocketFamilies[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
constexpr int kLastFamily = AF_NETLINK;

// A datagram socket, unlike a connected stream, can be pointed at any named socket of the host by each
// sendto.
constexpr std::uint64_t kSocketTypeMask = 0xf;
constexpr std::uint64_t kPairTypes[] = {SOCK_STREAM, SOCK_SEQPACKET};

template <typename Values>
constexpr bool contains(const Values& values, std::uint64_t wanted) {
    for (const auto value : values)
        if (static_cast<std::uint64_t>(value) == wanted) return true;
    return false;
}
static_assert(contains(kSocketFamilies, kLastFamily));

constexpr bool listed_once() {
    for (const RefusedCall& call : kRefusedCalls) {
        int times = 0;
        for (const RefusedCall& other : kRefusedCalls) times += call.number == other.number ? 1 : 0;
        if (times != 1) return false;
    }
    return true;
}
static_assert(listed_once(), "an unconditional rule would hide another");

/// A filter under construction. After the first rule that libseccomp refuses nothing is added, and `error`
/// says why.
class Builder {
  public:
    Builder() : context_(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release) {
        if (!context_) error_ = -ENOMEM;
        // Calls by another convention have other numbers, so none of them can be judged.
        set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
        set(SCMP_FLTATR_API_SYSRAWRC, 1);
        // A tree of comparisons: the kernel runs the program once for every call when it is installed, and
        // then for each call whose arguments matter.
        set(SCMP_FLTATR_CTL_OPTIMIZE, 2);
    }

    /// A negative number is libseccomp's for a call that this architecture never had.
    void add(std::uint32_t action, int number) {
        if (error_ == 0 && number >= 0)
            error_ = ::seccomp_rule_add_array(context_.get(), action, number, 0, nullptr);
    }
    void add(std::uint32_t action, int number, const scmp_arg_cmp& condition) {
        add(action, number, std::span(&condition, 1));
    }
    void add(std::uint32_t action, int number, std::span<const scmp_arg_cmp> conditions) {
        if (error_ == 0 && number >= 0)
            error_ = ::seccomp_rule_add_array(context_.get(), action, number,
                                              static_cast<unsigned>(conditions.size()), conditions.data());
    }
    int write(std::vector<sock_filter>& filter);

  private:
    void set(scmp_filter_attr attribute, std::uint32_t value) {
        if (error_ == 0) error_ = ::seccomp_attr_set(context_.get(), attribute, value);
    }
    int read_back(int file, std::vector<sock_filter>& filter);

    std::unique_ptr<void, decltype(&::seccomp_release)> context_;
    int error_ = 0;
};

int Builder::write(std::vector<sock_filter>& filter) {
    if (error_ < 0) return error_;
    const unique_fd file(::memfd_create("filter", MFD_CLOEXEC));
    if (!file) return -errno;
    const int error = ::seccomp_export_bpf(context_.get(), file.get());
    return error < 0 ? error : read_back(file.get(), filter);
}

int Builder::read_back(int file, std::vector<sock_filter>& filter) {
    struct stat status {};
    if (::fstat(file, &status) < 0) return -errno;
    const auto bytes = static_cast<std::size_t>(status.st_size);
    filter.resize(bytes / sizeof(sock_filter));
    if (filter.empty() || filter.size() > BPF_MAXINSNS || bytes % sizeof(sock_filter) != 0) return -EINVAL;
    return ::pread(file, filter.data(), bytes, 0) == static_cast<ssize_t>(bytes) ? 0 : -EIO;
}

scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
    return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void refuse_namespaces(Builder& builder) {
    for (const std::uint64_t flag : kNewNamespaces) {
        builder.add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), masked(0, flag, flag));
        builder.add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), masked(0, flag, flag));
    }
    builder.add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), masked(0, sys::kCloneNewTime, sys::kCloneNewTime));
}

/// Refuses all families but some: up to the last of these one by one, then, in the whole register, everything
/// beyond.
void refuse_families(Builder& builder) {
    const std::uint32_t refusal = SCMP_ACT_ERRNO(EAFNOSUPPORT);
    for (int family = 0; family < kLastFamily; ++family) {
        const scmp_arg_cmp equal = masked(0, kInt, static_cast<std::uint64_t>(family));
        if (!contains(kSocketFamilies, static_cast<std::uint64_t>(family)))
            builder.add(refusal, SCMP_SYS(socket), equal);
        if (family != AF_UNIX) builder.add(refusal, SCMP_SYS(socketpair), equal);
    }
    builder.add(refusal, SCMP_SYS(socket), {0, SCMP_CMP_GT, kLastFamily, 0});
    builder.add(refusal, SCMP_SYS(socketpair), {0, SCMP_CMP_GE, kLastFamily, 0});
}

void refuse_pair_types(Builder& builder) {
    for (std::uint64_t type = 0; type <= kSocketTypeMask; ++type)
        if (!contains(kPairTypes, type))
            builder.add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socketpair), masked(1, kSocketTypeMask, type));
}

/// Open flags that ask for more than reading (open(2)). The access mode 3 wants both permissions.
void notify_writing(Builder& builder, int number, unsigned argument) {
    constexpr std::uint64_t kTemporaryFile = O_TMPFILE & ~O_DIRECTORY;
    for (const std::uint64_t mode : {O_WRONLY, O_RDWR, O_ACCMODE})
        builder.add(SCMP_ACT_NOTIFY, number, masked(argument, O_ACCMODE, mode));
    for (const std::uint64_t flag : {std::uint64_t{O_CREAT}, std::uint64_t{O_TRUNC}, kTemporaryFile})
        builder.add(SCMP_ACT_NOTIFY, number, masked(argument, flag, flag));
}

void restrict_execution(Builder& builder) {
    builder.add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(memfd_create));
    for (const NotifiedCall& call : notified_execution()) {
        if (call.act != Act::map) {
            builder.add(SCMP_ACT_NOTIFY, call.number);
            continue;
        }
        const scmp_arg_cmp conditions[] = {masked(2, PROT_EXEC, PROT_EXEC), masked(3, MAP_ANONYMOUS, 0)};
        builder.add(SCMP_ACT_NOTIFY, call.number, conditions);
    }
}

void notify(Builder& builder) {
    for (const NotifiedCall& call : notified_calls()) {
        if (call.flags_argument < 0)
            builder.add(SCMP_ACT_NOTIFY, call.number);
        else
            notify_writing(builder, call.number, static_cast<unsigned>(call.flags_argument));
    }
}

bool knows_flags(unsigned long flags) noexcept {
    // The kernel looks at the flags before it reads the program, which is not there.
    return sys::raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, static_cast<long>(flags), 0) == -EFAULT;
}

}  // namespace

Outcome make_filter(Supervision supervision, std::vector<sock_filter>& filter) {
    Builder builder;
    for (const RefusedCall& call : kRefusedCalls) builder.add(SCMP_ACT_ERRNO(call.error), call.number);
    for (const RefusedArgument& call : kRefusedArguments)
        builder.add(SCMP_ACT_ERRNO(call.error), call.number, masked(call.argument, call.mask, call.value));
    refuse_namespaces(builder);
    refuse_families(builder);
    refuse_pair_types(builder);
    if (supervision != Supervision::none) notify(builder);
    if (supervision == Supervision::with_execution) restrict_execution(builder);
    const int error = builder.write(filter);
    return error < 0 ? fail(Stage::seccomp, -error, "filter") : Outcome{};
}

NotificationSupport probe_notifications() noexcept {
    constexpr unsigned long kListener = sys::kSeccompFilterFlagNewListener;
    return {knows_flags(kListener), knows_flags(kListener | sys::kSeccompFilterFlagWaitKillableRecv)};
}

}  // namespace sandpipe::launcher
