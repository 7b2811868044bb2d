#include "launcher/kernel/seccomp_filter.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sandpipe/unique_fd.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>

#include "launcher/kernel/architecture.hpp"
#include "launcher/kernel/notified_call.hpp"
#include "launcher/kernel/refused_call.hpp"
#include "sys/kernel.hpp"

namespace sandpipe::launcher {
namespace {

/// A filter under construction. After the first rule that libseccomp refuses nothing is added, and `error`
/// says why.
class Builder {
  public:
    /// `foreign` is for calls by another convention: they have other numbers, so none of them can be judged.
    explicit Builder(std::uint32_t foreign) : context_(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release) {
        if (!context_) error_ = -ENOMEM;
        set(SCMP_FLTATR_ACT_BADARCH, foreign);
        set(SCMP_FLTATR_API_SYSRAWRC, 1);
        // A tree of comparisons: the kernel runs the program once for every call when it is installed, and
        // then for each call whose arguments matter.
        set(SCMP_FLTATR_CTL_OPTIMIZE, 2);
    }

    /// A negative number is libseccomp's for a call that this architecture never had.
    void add(std::uint32_t action, int number, std::initializer_list<scmp_arg_cmp> conditions = {}) {
        if (error_ == 0 && number >= 0)
            error_ = ::seccomp_rule_add_array(context_.get(), action, number,
                                              static_cast<unsigned>(conditions.size()), conditions.begin());
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

constexpr std::size_t kLongest = BPF_MAXINSNS - 16;  // some may be put before it

int Builder::read_back(int file, std::vector<sock_filter>& filter) {
    struct stat status {};
    if (::fstat(file, &status) < 0) return -errno;
    const auto bytes = static_cast<std::size_t>(status.st_size);
    filter.resize(bytes / sizeof(sock_filter));
    if (filter.empty() || filter.size() > kLongest || bytes % sizeof(sock_filter) != 0) return -EINVAL;
    return ::pread(file, filter.data(), bytes, 0) == static_cast<ssize_t>(bytes) ? 0 : -EIO;
}

scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
    return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

constexpr std::uint64_t kInt = 0xffffffff;
constexpr int kLastFamily = AF_NETLINK;

/// Adds the rules for what no command may do.
class Refusals {
  public:
    Refusals(Builder& builder, const Supervision& supervision) : builder_(builder), supervised_(supervision.exists) {}

    void add_all() {
        for (const RefusedCall& call : refused_calls())
            builder_.add(call.told == Told::nobody ? SCMP_ACT_ERRNO(call.error) : answer(call.error), call.number);
        for (const RefusedArgument& call : refused_arguments())
            builder_.add(answer(call.error), call.number, {masked(call.argument, call.mask, call.value)});
        add_namespaces();
        add_families();
        add_unix_types();
        for (const int family : {AF_INET, AF_INET6}) add_inet_sockets(static_cast<std::uint64_t>(family));
    }

  private:
    [[nodiscard]] std::uint32_t answer(int error) const {
        return supervised_ ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(static_cast<unsigned>(error));
    }

    void add_namespaces() {
        for (const auto& [flag, name] : new_namespaces()) {
            builder_.add(answer(EPERM), SCMP_SYS(clone), {masked(0, flag, flag)});
            builder_.add(answer(EPERM), SCMP_SYS(unshare), {masked(0, flag, flag)});
        }
        builder_.add(answer(EPERM), SCMP_SYS(unshare), {masked(0, sys::kCloneNewTime, sys::kCloneNewTime)});
    }

    /// Up to the last of the families that exist one by one, then, in the whole register, everything beyond.
    void add_families() {
        for (int family = 0; family < kLastFamily; ++family) {
            const scmp_arg_cmp equal = masked(0, kInt, static_cast<std::uint64_t>(family));
            if (!is_socket_family(family)) builder_.add(answer(EAFNOSUPPORT), SCMP_SYS(socket), {equal});
            if (family != AF_UNIX) builder_.add(answer(EAFNOSUPPORT), SCMP_SYS(socketpair), {equal});
        }
        builder_.add(answer(EAFNOSUPPORT), SCMP_SYS(socket), {{0, SCMP_CMP_GT, kLastFamily, 0}});
        builder_.add(answer(EAFNOSUPPORT), SCMP_SYS(socketpair), {{0, SCMP_CMP_GE, kLastFamily, 0}});
    }

    /// Where nobody supervises connect, only pairs can be had: any other could lead to a service of the host.
    void add_unix_types() {
        if (!supervised_) builder_.add(answer(EACCES), SCMP_SYS(socket), {masked(0, kInt, AF_UNIX)});
        for (std::uint64_t type = 0; type <= kSocketTypeMask; ++type) {
            if (is_unix_socket_type(type)) continue;
            const scmp_arg_cmp equal = masked(1, kSocketTypeMask, type);
            if (supervised_) builder_.add(answer(EACCES), SCMP_SYS(socket), {masked(0, kInt, AF_UNIX), equal});
            builder_.add(answer(EACCES), SCMP_SYS(socketpair), {masked(0, kInt, AF_UNIX), equal});
        }
    }

    void add_inet_sockets(std::uint64_t family) {
        const scmp_arg_cmp of_family = masked(0, kInt, family);
        for (std::uint64_t type = 0; type <= kSocketTypeMask; ++type)
            if (!is_inet_socket_type(type))
                builder_.add(answer(ESOCKTNOSUPPORT), SCMP_SYS(socket), {of_family, masked(1, kSocketTypeMask, type)});
        for (const int protocol : refused_inet_protocols())
            builder_.add(answer(EPROTONOSUPPORT), SCMP_SYS(socket),
                         {of_family, masked(2, kInt, static_cast<std::uint64_t>(protocol))});
    }

    Builder& builder_;
    bool supervised_;
};

// Open flags that ask for more than reading (open(2)), but for the access mode, whose value 3 wants both permissions.
constexpr std::uint32_t kMaking[] = {O_CREAT, O_TRUNC, O_TMPFILE & ~O_DIRECTORY};

void notify_writing(Builder& builder, int number, unsigned argument) {
    for (const std::uint64_t mode : {O_WRONLY, O_RDWR, O_ACCMODE})
        builder.add(SCMP_ACT_NOTIFY, number, {masked(argument, O_ACCMODE, mode)});
    for (const std::uint64_t flag : kMaking) builder.add(SCMP_ACT_NOTIFY, number, {masked(argument, flag, flag)});
}

/// openat for reading is what programs do most, and the only frequent call that the kernel has to run the filter for.
/// The same is said here at once that is said below after four times as many steps.
void decide_reading_first(std::vector<sock_filter>& filter) {
    constexpr std::uint32_t kWriting = O_ACCMODE | kMaking[0] | kMaking[1] | kMaking[2];
    constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
    const sock_filter first[] = {
        BPF_STMT(kLoad, offsetof(seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kNativeArchitecture, 0, 5),
        BPF_STMT(kLoad, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
        BPF_STMT(kLoad, offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t)),  // an int: the low half
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kWriting, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    static_assert(std::size(kMaking) == 3);
    filter.insert(filter.begin(), std::begin(first), std::end(first));
}

bool is_asked_about(Act act, const Supervision& supervision) {
    switch (act) {
        case Act::connect:
        case Act::bind:
        case Act::send:
        case Act::set_file_mask:
            return true;
        case Act::send_message:
            return supervision.network;
        case Act::enter:
        case Act::read_link:
            return supervision.reads;
        case Act::execute:
            return supervision.reads || supervision.executes;
        case Act::map:
        case Act::make_executable:
            return supervision.executes;
        default:
            return supervision.files;
    }
}

void notify(Builder& builder, const NotifiedCall& call, const Supervision& supervision) {
    const auto argument = static_cast<unsigned>(call.decisive_argument);
    switch (call.notified) {
        case Notified::always:
            return builder.add(SCMP_ACT_NOTIFY, call.number);
        case Notified::writing:
            if (supervision.reads) return builder.add(SCMP_ACT_NOTIFY, call.number);
            return notify_writing(builder, call.number, argument);
        case Notified::non_null:
            return builder.add(SCMP_ACT_NOTIFY, call.number, {{argument, SCMP_CMP_NE, 0, 0}});
        case Notified::unmarked:
            return builder.add(SCMP_ACT_NOTIFY, call.number, {masked(argument, MSG_CONFIRM, 0)});
        case Notified::attributes:
            for (const std::uint64_t request : {FS_IOC_SETFLAGS, FS_IOC_SETVERSION, FS_IOC_FSSETXATTR})
                builder.add(SCMP_ACT_NOTIFY, call.number, {masked(argument, kInt, request)});
            return;
        case Notified::protection:
            return builder.add(SCMP_ACT_NOTIFY, call.number, {masked(argument, PROT_EXEC, PROT_EXEC)});
        case Notified::mapping:
            builder.add(SCMP_ACT_NOTIFY, call.number,
                        {masked(2, PROT_EXEC, PROT_EXEC), masked(3, MAP_ANONYMOUS, 0)});
            return builder.add(SCMP_ACT_NOTIFY, call.number, {masked(3, MAP_ANONYMOUS | MAP_DENYWRITE, MAP_DENYWRITE)});
    }
}

/// personality(2) with READ_IMPLIES_EXEC makes all that is mapped to be read executable, unasked. All bits at once only
/// ask what it is, and no rule can have two conditions on one argument: so it is that bit without one of the others.
void notify_implied_execution(Builder& builder) {
    constexpr std::uint64_t kUnasked = READ_IMPLIES_EXEC;
    for (std::uint64_t other = 1; other < kInt; other <<= 1)
        if (other != kUnasked)
            builder.add(SCMP_ACT_NOTIFY, SCMP_SYS(personality), {masked(0, kUnasked | other, kUnasked)});
}

void notify(Builder& builder, const Supervision& supervision) {
    for (const NotifiedCall& call : notified_calls())
        if (is_asked_about(call.act, supervision)) notify(builder, call, supervision);
}

}  // namespace

Outcome make_filter(const Supervision& supervision, std::vector<sock_filter>& filter) {
    // The supervisor tells of such a call and ends its process.
    Builder builder(supervision.exists ? SCMP_ACT_NOTIFY : SCMP_ACT_KILL_PROCESS);
    Refusals(builder, supervision).add_all();
    if (supervision.exists) notify(builder, supervision);
    if (supervision.exists && supervision.executes) notify_implied_execution(builder);
    if (supervision.executes) builder.add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(memfd_create));
    const int error = builder.write(filter);
    if (error == 0 && supervision.exists && supervision.files && !supervision.reads) decide_reading_first(filter);
    return error < 0 ? fail(Stage::seccomp, -error, "filter") : Outcome{};
}

}  // namespace sandpipe::launcher
