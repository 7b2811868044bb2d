#include "supervisor.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "launcher/known_probe.hpp"
#include "launcher/refused_call.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMaxPending = 1024;
// Of one command. What it does beyond is refused without the host's having to hear of each.
constexpr std::uint64_t kMostReported = 1000;
constexpr unsigned long kNotifSetFlags = SECCOMP_IOW(4, __u64);  // SECCOMP_IOCTL_NOTIF_SET_FLAGS, since 6.6
constexpr unsigned long kSyncWakeUp = 1;                         // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#if defined(__x86_64__)
constexpr unsigned kNativeArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kNativeArchitecture = AUDIT_ARCH_AARCH64;
#endif

std::size_t notification_size() {
    seccomp_notif_sizes sizes{};
    const long error = sys::raw_syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, sys::word(&sizes));
    return error < 0 ? sizeof(seccomp_notif)
                     : std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif));
}

Answer refusal(int error) {
    Answer answer;
    answer.judgement = {Decision::refuse, error, {}};
    return answer;
}

/// A wrong argument: the kernel finds it too, but for calls that only the supervisor can carry out.
Answer unreadable(const NotifiedCall& row, int error) {
    const bool made_here = row.act >= Act::make_directory && row.act <= Act::link;
    return !made_here ? Answer{} : refusal(-error);
}

wire::Denied describe(const Call& call, const Answer& answer) {
    wire::Denied denied;
    denied.kind = static_cast<std::uint8_t>(answer.kind);
    denied.operation = call.operation;
    denied.path = call.on_descriptor ? answer.resolved : call.path;
    denied.resolved = answer.resolved;
    denied.second_path = call.second_path;
    denied.second_resolved = answer.second_resolved;
    denied.error = answer.judgement.error;
    denied.rule = answer.judgement.rule;
    return denied;
}

wire::Denied describe(const NotifiedCall& row, const SocketAnswer& answer) {
    wire::Denied denied;
    denied.kind = static_cast<std::uint8_t>(answer.kind);
    denied.operation = row.operation;
    denied.path = answer.path;
    denied.resolved = answer.resolved;
    denied.host = answer.host;
    denied.port = answer.port;
    denied.error = answer.judgement.error;
    denied.rule = answer.judgement.rule;
    return denied;
}

std::string name_of(int number) {
    char* name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    std::string text = name ? name : "system call " + std::to_string(number);
    std::free(name);
    return text;
}

class HeldLock {
  public:
    explicit HeldLock(int file) noexcept : file_(file) {}
    HeldLock(const HeldLock&) = delete;
    HeldLock& operator=(const HeldLock&) = delete;
    ~HeldLock() {
        if (file_ >= 0) ::flock(file_, LOCK_UN);
    }

  private:
    int file_;
};

}  // namespace

void Supervisor::attach(unique_fd listener) {
    detach();
    listener_ = std::move(listener);
    buffer_.assign((notification_size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t), 0);
    // Without it the kernel may wake either side on another processor, which costs time and nothing else.
    sys::raw_syscall(SYS_ioctl, listener_.get(), static_cast<long>(kNotifSetFlags),
                     static_cast<long>(kSyncWakeUp));
    if (mount_of("/", root_mount_, root_inode_) < 0) root_mount_ = root_inode_ = 0;
}

void Supervisor::detach() {
    listener_.reset();
    pending_.clear();
    reported_ = folded_ = 0;
    repositories_.forget();
    if (!registry_.has_own() || hold_lock() < 0) return;
    const HeldLock held(own_lock_.get());
    registry_.forget_own();
}

void Supervisor::on_notification(bool started) {
    started_ = started;
    if (!receive()) return;
    seccomp_notif notification{};
    std::memcpy(&notification, buffer_.data(), sizeof notification);
    handle(notification);
}

/// False when the caller died or was interrupted in the meantime.
bool Supervisor::receive() {
    // When the last of the command's processes ends the listener only hangs up, and older kernels would wait
    // here.
    pollfd ready{listener_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 0) <= 0 || !(ready.revents & POLLIN)) return false;
    std::fill(buffer_.begin(), buffer_.end(), 0);
    return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, buffer_.data()) == 0;
}

void Supervisor::handle(const seccomp_notif& notification) {
    const Caller caller(static_cast<pid_t>(notification.pid));
    if (notification.data.arch != kNativeArchitecture) return respond(notification.id, ENOSYS);
    const NotifiedCall* row = find_notified_call(notification.data.nr);
    if (!row) return handle_refused(notification, caller);
    if (is_socket_act(row->act)) return handle_socket(*row, notification, caller);
    const bool is_start = !started_ && row->act == Act::execute;
    if (is_start) return respond(notification.id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
    handle_file(*row, notification, caller);
}

/// A call that is notified only to be refused.
void Supervisor::handle_refused(const seccomp_notif& notification, const Caller& caller) {
    const Refusal refusal = refusal_of(notification.data);
    if (refusal.error == 0) return respond(notification.id, ENOSYS);
    wire::Denied denied;
    const bool socket = notification.data.nr == __NR_socket || notification.data.nr == __NR_socketpair;
    denied.kind = static_cast<std::uint8_t>(socket ? DenialKind::socket : DenialKind::syscall);
    denied.operation = name_of(notification.data.nr);
    denied.error = refusal.error;
    denied.rule = refusal.rule;
    denied.probe = refusal.probe;
    deny(notification.id, caller, std::move(denied));
}

void Supervisor::handle_socket(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller) {
    const std::uint64_t cookie = notification.id;
    if (!has_own_root(caller) && row.act != Act::send) return respond(cookie, EACCES);
    sockets_.connector().end_unless([this](std::uint64_t other) { return is_valid(other); });
    SocketAnswer result;
    if (hold_lock() < 0) return respond(cookie, ENOLCK);
    {
        const HeldLock held(own_lock_.get());
        result = sockets_.answer(row, notification, caller, [this, cookie] { return is_valid(cookie); });
    }
    switch (result.judgement.decision) {
        case Decision::proceed:
            return respond(cookie, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
        case Decision::refuse:
            return respond(cookie, result.judgement.error);
        case Decision::deny:
            return deny(cookie, caller, describe(row, result));
        case Decision::perform:
            if (!result.later) respond(cookie, 0);
    }
}

bool Supervisor::on_child(pid_t pid) {
    return sockets_.connector().on_child(
        pid, [this](std::uint64_t cookie, int error) { respond(cookie, -error); });
}

void Supervisor::handle_file(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller) {
    Call call;
    const Answer result = answer(row, notification, caller, call);
    switch (result.judgement.decision) {
        case Decision::proceed:
            return respond(notification.id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
        case Decision::refuse:
            return respond(notification.id, result.judgement.error);
        case Decision::deny:
            return deny(notification.id, caller, describe(call, result));
        case Decision::perform:
            if (result.file) return install(notification.id, call, result);
            return respond(notification.id, 0);
    }
}

Answer Supervisor::answer(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller,
                          Call& call) {
    if (const int error = read_call(row, notification.data, caller, call); error < 0) return unreadable(row, error);
    // Where the caller's paths mean something else, it gets no help; what it can do without is the kernel's
    // matter.
    if (!has_own_root(caller)) return unreadable(row, -EACCES);
    if (is_only_judged(plan_.rules, call))
        return answer_call(plan_.rules, repositories_, caller, call, [] { return true; });
    return answer_under_lock(caller, call, notification.id);
}

Answer Supervisor::answer_under_lock(const Caller& caller, const Call& call, std::uint64_t cookie) {
    if (hold_lock() < 0) return refusal(ENOLCK);
    const HeldLock held(own_lock_.get());
    return answer_call(plan_.rules, repositories_, caller, call, [this, cookie] { return is_valid(cookie); });
}

/// By mount and inode: neither a chroot nor another mount namespace has both.
bool Supervisor::has_own_root(const Caller& caller) const {
    std::uint64_t mount = 0;
    std::uint64_t inode = 0;
    if (caller.root_mount(mount, inode) < 0) return false;
    return root_inode_ != 0 && mount == root_mount_ && inode == root_inode_;
}

int Supervisor::hold_lock() {
    if (session_file_ < 0) return 0;
    if (!own_lock_) {
        // flock(2) locks belong to an open file description, and the inherited one is the whole session's.
        const std::string path = "/proc/self/fd/" + std::to_string(session_file_);
        own_lock_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!own_lock_) return -errno;
    }
    while (::flock(own_lock_.get(), LOCK_EX) < 0)
        if (errno != EINTR) return -errno;
    return 0;
}

bool Supervisor::is_valid(std::uint64_t cookie) const {
    return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &cookie) == 0;
}

/// Hands the new file over and ends the call with its number, in one step.
void Supervisor::install(std::uint64_t cookie, const Call& call, const Answer& answer) {
    seccomp_notif_addfd added{};
    added.id = cookie;
    added.flags = SECCOMP_ADDFD_FLAG_SEND;
    added.srcfd = static_cast<unsigned>(answer.file.get());
    added.newfd_flags = static_cast<unsigned>(call.how.flags & O_CLOEXEC);
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &added) >= 0) return;
    const int error = errno;
    // Its caller is gone: the file stays, as if it had died a moment later.
    if (error == ENOENT) return;
    if (hold_lock() == 0) {
        const HeldLock held(own_lock_.get());
        unmake(answer);
    }
    respond(cookie, error);
}

void Supervisor::deny(std::uint64_t cookie, const Caller& caller, wire::Denied denied) {
    const int error = denied.error;
    denied.pid = caller.process();
    denied.program = caller.program();
    denied.probe = denied.probe || is_known_probe(denied.operation, denied.resolved);
    if (!is_valid(cookie)) return;
    denied.id = next_id_++;
    denied.folded = folded_;
    const bool told = reported_ < kMostReported && pending_.size() < kMaxPending && report_(denied);
    if (!told) {
        ++folded_;
        last_folded_ = std::move(denied);
        return respond(cookie, error);
    }
    ++reported_;
    folded_ = 0;
    pending_[denied.id] = {cookie, error};
}

void Supervisor::report_folded() {
    if (folded_ == 0) return;
    last_folded_.id = 0;
    last_folded_.folded = folded_ - 1;
    folded_ = 0;
    (void)report_(last_folded_);  // a host that takes no more has gone, or soon will
}

void Supervisor::on_acknowledged(std::uint64_t id) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) return;
    const Pending pending = found->second;
    pending_.erase(found);
    respond(pending.cookie, pending.error);
}

void Supervisor::respond(std::uint64_t cookie, int error, unsigned flags) {
    seccomp_notif_resp response{};
    response.id = cookie;
    response.error = -error;
    response.flags = flags;
    // ENOENT: the caller died or was interrupted, and needs no answer. Nothing else can fail here.
    sys::raw_syscall(SYS_ioctl, listener_.get(), static_cast<long>(SECCOMP_IOCTL_NOTIF_SEND),
                     sys::word(&response));
}

}  // namespace sandpipe::launcher
