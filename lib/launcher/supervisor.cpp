#include "supervisor.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMaxPending = 1024;
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

Answer refusal(int error) { return {{Decision::refuse, error, {}}, {}, {}, {}, {}}; }

/// A wrong argument: the kernel finds it too, but for calls that only the supervisor can carry out.
Answer unreadable(const NotifiedCall& row, int error) {
    const bool by_kernel = row.act == Act::open || row.act == Act::change || row.act == Act::execute;
    return by_kernel ? Answer{} : refusal(-error);
}

bool is_execution(const NotifiedCall& row) { return row.act == Act::execute || row.act == Act::map; }

bool only_judged(const Call& call) {
    return call.row->act == Act::change || is_execution(*call.row) || (call.row->act == Act::open && !(call.how.flags & O_CREAT));
}

wire::Denied describe(const Caller& caller, const Call& call, const Answer& answer) {
    wire::Denied denied;
    denied.kind = is_execution(*call.row) ? wire::kDeniedExec : wire::kDeniedWrite;
    denied.operation = call.operation;
    denied.path = call.on_descriptor ? answer.resolved : call.path;
    denied.resolved = answer.resolved;
    denied.second_path = call.second_path;
    denied.second_resolved = answer.second_resolved;
    denied.error = answer.judgement.error;
    denied.rule = answer.judgement.rule;
    denied.pid = caller.process();
    denied.program = caller.program();
    return denied;
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
    folded_ = 0;
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
    Call call;
    const Answer result = answer(notification, caller, call);
    switch (result.judgement.decision) {
        case Decision::proceed:
            return respond(notification.id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
        case Decision::refuse:
            return respond(notification.id, result.judgement.error);
        case Decision::deny:
            return deny(notification.id, caller, call, result);
        case Decision::perform:
            if (result.file) return install(notification.id, call, result);
            return respond(notification.id, 0);
    }
}

Answer Supervisor::answer(const seccomp_notif& notification, const Caller& caller, Call& call) {
    const NotifiedCall* row = find_notified_call(notification.data.nr);
    if (!row || notification.data.arch != kNativeArchitecture) return refusal(ENOSYS);
    if (is_start(*row)) return {};
    if (const int error = read_call(*row, notification.data, caller, call); error < 0)
        return unreadable(*row, error);
    if (row->act == Act::open && !asks_to_write(call.how.flags)) return {};
    // Where the caller's paths mean something else, it gets no help; what it can do without is the kernel's
    // matter.
    if (!has_own_root(caller)) return unreadable(*row, -EACCES);
    if (only_judged(call)) return answer_call(rules_, caller, call, [] { return true; });
    return answer_under_lock(caller, call, notification.id);
}

bool Supervisor::is_start(const NotifiedCall& row) const { return !started_ && row.act == Act::execute; }

Answer Supervisor::answer_under_lock(const Caller& caller, const Call& call, std::uint64_t cookie) {
    if (hold_lock() < 0) return refusal(ENOLCK);
    const HeldLock held(own_lock_.get());
    return answer_call(rules_, caller, call, [this, cookie] { return is_valid(cookie); });
}

/// By mount and inode: neither a chroot nor another mount namespace has both.
bool Supervisor::has_own_root(const Caller& caller) const {
    std::uint64_t mount = 0;
    std::uint64_t inode = 0;
    if (caller.root_mount(mount, inode) < 0) return false;
    return root_inode_ != 0 && mount == root_mount_ && inode == root_inode_;
}

int Supervisor::hold_lock() {
    if (session_lock_ < 0) return 0;
    if (!own_lock_) {
        // flock(2) locks belong to an open file description, and the inherited one is the whole session's.
        const std::string path = "/proc/self/fd/" + std::to_string(session_lock_);
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

void Supervisor::deny(std::uint64_t cookie, const Caller& caller, const Call& call, const Answer& answer) {
    const int error = answer.judgement.error;
    wire::Denied denied = describe(caller, call, answer);
    if (!is_valid(cookie)) return;
    denied.id = next_id_++;
    denied.folded = folded_;
    if (pending_.size() >= kMaxPending || !report_(denied)) {
        ++folded_;
        return respond(cookie, error);
    }
    folded_ = 0;
    pending_[denied.id] = {cookie, error};
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
