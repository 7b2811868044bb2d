#include "launcher/supervisor/supervisor.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "launcher/kernel/architecture.hpp"
#include "launcher/kernel/features.hpp"
#include "launcher/kernel/refused_call.hpp"
#include "launcher/supervisor/denied_message.hpp"
#include "launcher/supervisor/known_probe.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr unsigned long kNotifSetFlags = SECCOMP_IOW(4, __u64);  // SECCOMP_IOCTL_NOTIF_SET_FLAGS, since 6.6
constexpr unsigned long kSyncWakeUp = 1;                         // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP

Answer refusal(int error) {
    Answer answer;
    answer.judgement = {Decision::refuse, error, {}};
    return answer;
}

/// A wrong argument: the kernel finds it too, but for calls that only the supervisor can carry out.
Answer unreadable(const NotifiedCall& row, int error) {
    const bool made_here = row.act >= Act::make_directory && row.act <= Act::set_attribute;
    return !made_here ? Answer{} : refusal(-error);
}

/// What this process hands on to the commands that it starts.
mode_t own_file_mask() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mask;
}

}  // namespace

void Supervisor::attach(unique_fd listener) {
    detach();
    listener_ = std::move(listener);
    buffer_.assign((notification_size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t), 0);
    // Without it the kernel may wake either side on another processor, which costs time and nothing else.
    sys::raw_syscall(SYS_ioctl, listener_.get(), static_cast<long>(kNotifSetFlags),
                     static_cast<long>(kSyncWakeUp));
    file_mask_ = own_file_mask();
    if (mount_of("/", root_mount_, root_inode_) < 0) root_mount_ = root_inode_ = 0;
}

void Supervisor::detach() {
    listener_.reset();
    told_.forget();
    interrupted_.clear();
    repositories_.forget();
    if (!registry_.has_own()) return;
    if (const SessionLock::Held held(lock_); held) registry_.forget_own();
}

void Supervisor::on_notification(bool started) {
    started_ = started;
    if (!receive()) return;
    seccomp_notif notification{};
    std::memcpy(&notification, buffer_.data(), sizeof notification);
    handle(notification);
}

/// False when the caller died or was interrupted in the meantime. Does not wait, where the listener was readable: the
/// kernel counts notifications, and takes none off when their callers go.
bool Supervisor::receive() {
    std::fill(buffer_.begin(), buffer_.end(), 0);
    return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, buffer_.data()) == 0;
}

void Supervisor::handle(const seccomp_notif& notification) {
    const Caller caller(static_cast<pid_t>(notification.pid), file_mask_);
    if (const std::optional<int> refused = interrupted_.take_refused(notification))
        return refuse_told(notification, *refused);
    if (!is_native(notification.data)) return deny(notification, caller, denied_message(notification.data));
    const NotifiedCall* row = find_notified_call(notification.data.nr);
    // Of one call some requests may be judged, and others never made.
    if (!row || refusal_of(notification.data).error != 0) return handle_refused(notification, caller);
    if (row->act == Act::set_file_mask) {
        file_mask_.reset();  // before it is changed, so that no later call can be given the old one
        return let_go_on(notification.id);
    }
    if (is_socket_act(row->act)) return handle_socket(*row, notification, caller);
    const bool is_start = !started_ && row->act == Act::execute;
    if (is_start) return let_go_on(notification.id);
    handle_file(*row, notification, caller);
}

/// A call that is notified only to be refused.
void Supervisor::handle_refused(const seccomp_notif& notification, const Caller& caller) {
    const Refusal refusal = refusal_of(notification.data);
    if (refusal.error == 0) return (void)respond(notification.id, ENOSYS);
    deny(notification, caller, denied_message(notification.data, refusal));
}

void Supervisor::handle_socket(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller) {
    const std::uint64_t cookie = notification.id;
    if (is_sending(row.act))  // often, and nothing that is shared has a part in it
        return end_socket_call(row, notification, caller, sockets_.judge_sending(row, notification, caller));
    if (!has_own_root(caller)) return (void)respond(cookie, EACCES);
    sockets_.connector().end_unless([this](std::uint64_t other) { return is_valid(other); });
    SocketAnswer result;
    {
        const SessionLock::Held held(lock_);
        if (!held) return (void)respond(cookie, ENOLCK);
        result = sockets_.answer(row, notification, caller, [this, cookie] { return is_valid(cookie); });
    }
    end_socket_call(row, notification, caller, result);
}

void Supervisor::end_socket_call(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller,
                                 const SocketAnswer& result) {
    switch (result.judgement.decision) {
        case Decision::proceed:
            return let_go_on(notification.id);
        case Decision::refuse:
            return (void)respond(notification.id, result.judgement.error);
        case Decision::deny:
            return deny(notification, caller, denied_message(row, result));
        case Decision::perform:
            if (!result.later) (void)respond(notification.id, 0);
            return;
    }
}

void Supervisor::look_for_signals() {
    opens_.calls().end_interrupted();
    sockets_.connector().calls().end_interrupted();
}

bool Supervisor::waits_for_others() noexcept {
    return opens_.calls().has_waiting() || sockets_.connector().calls().has_waiting();
}

bool Supervisor::on_child(pid_t pid) {
    const auto on_open = [this](std::uint64_t cookie, const Call& call, unique_fd file, int error) {
        on_opened(cookie, call, std::move(file), error);
    };
    if (opens_.on_child(pid, on_open)) return true;
    return sockets_.connector().on_child(
        pid, [this](std::uint64_t cookie, int error) { (void)respond(cookie, -error); });
}

void Supervisor::handle_file(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller) {
    Call call;
    Answer result = answer(row, notification, caller, call);
    switch (result.judgement.decision) {
        case Decision::proceed:
            return let_go_on(notification.id);
        case Decision::refuse:
            return (void)respond(notification.id, result.judgement.error);
        case Decision::deny:
            return deny(notification, caller, denied_message(call, result));
        case Decision::perform:
            if (result.waits) return open_later(notification, call, std::move(result.file));
            if (result.file) return install(notification, call, std::move(result));
            if (!respond(notification.id, 0)) keep_done(notification, call, std::move(result));
    }
}

Answer Supervisor::answer(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller,
                          Call& call) {
    if (const int error = read_call(row, notification.data, caller, call); error < 0) return unreadable(row, error);
    // Where the caller's paths mean something else, it gets no help; what it can do without is the kernel's
    // matter.
    if (!has_own_root(caller)) return unreadable(row, -EACCES);
    if (std::optional<Answer> earlier = interrupted_.take_done(notification, call)) return std::move(*earlier);
    if (!is_only_judged(plan_.rules, call)) return answer_under_lock(caller, call, notification.id);
    Answer judged = answer_call(plan_.rules, repositories_, foreign_files_, caller, call, [] { return true; });
    if (row.act == Act::execute) deny_replaced(judged);
    return judged;
}

/// The rules let it run, and Landlock will not.
void Supervisor::deny_replaced(Answer& answer) const {
    const bool proceeds = answer.judgement.decision == Decision::proceed;
    if (proceeds && programs_ && programs_->is_replaced(answer.resolved))
        answer.judgement = {Decision::deny, EACCES, "allowExecute (another file than when the session began)"};
}

Answer Supervisor::answer_under_lock(const Caller& caller, const Call& call, std::uint64_t cookie) {
    const SessionLock::Held held(lock_);
    if (!held) return refusal(ENOLCK);
    return answer_call(plan_.rules, repositories_, foreign_files_, caller, call,
                       [this, cookie] { return is_valid(cookie); });
}

/// By mount and inode: neither a chroot nor another mount namespace has both.
bool Supervisor::has_own_root(const Caller& caller) const {
    std::uint64_t mount = 0;
    std::uint64_t inode = 0;
    if (caller.root_mount(mount, inode) < 0) return false;
    return root_inode_ != 0 && mount == root_mount_ && inode == root_inode_;
}

bool Supervisor::is_valid(std::uint64_t cookie) const {
    return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &cookie) == 0;
}

/// 0, or the -errno with which the new file could not be handed over and the call ended with its number.
int Supervisor::hand_over(std::uint64_t cookie, const Call& call, const Answer& answer) {
    seccomp_notif_addfd added{};
    added.id = cookie;
    added.flags = support_.addfd_send ? SECCOMP_ADDFD_FLAG_SEND : 0;
    added.srcfd = static_cast<unsigned>(answer.file.get());
    added.newfd_flags = static_cast<unsigned>(call.how.flags & O_CLOEXEC);
    const int number = ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &added);
    if (number < 0) return -errno;
    if (support_.addfd_send) return 0;
    // In two steps: between them a signal may take the caller away, which then has a descriptor that it knows not of.
    return respond(cookie, 0, 0, number) ? 0 : -ENOENT;
}

void Supervisor::install(const seccomp_notif& notification, const Call& call, Answer answer) {
    const int error = hand_over(notification.id, call, answer);
    if (error == 0) return;
    // Its caller is gone: the file stays, as if it had died a moment later, or will come again for it. Which of the two
    // errnos depends on when it went.
    if (error == -ENOENT || error == -ESRCH) return keep_done(notification, call, std::move(answer));
    if (const SessionLock::Held held(lock_); held) unmake(answer);
    (void)respond(notification.id, -error);
}

void Supervisor::open_later(const seccomp_notif& notification, const Call& call, unique_fd fifo) {
    opens_.end_unless([this](std::uint64_t other) { return is_valid(other); });
    const int error = opens_.start(notification, call, std::move(fifo));
    if (error < 0) (void)respond(notification.id, -error);
}

void Supervisor::on_opened(std::uint64_t cookie, const Call& call, unique_fd file, int error) {
    Answer answer;
    answer.file = std::move(file);
    if (error == 0) error = hand_over(cookie, call, answer);
    // Who is gone gets nothing, and who was interrupted asks again.
    if (error < 0 && error != -ENOENT && error != -ESRCH) (void)respond(cookie, -error);
}

void Supervisor::keep_done(const seccomp_notif& notification, const Call& call, Answer answer) {
    if (!support_.wait_killable) interrupted_.keep_done(notification, call, std::move(answer));
}

void Supervisor::deny(const seccomp_notif& notification, const Caller& caller, wire::Denied denied) {
    const int error = denied.error;
    denied.pid = caller.process();
    denied.program = caller.program();
    denied.probe = denied.probe || is_known_probe(denied.operation, denied.resolved);
    if (!is_valid(notification.id) || (!support_.wait_killable && told_.waits_again(notification))) return;
    if (!told_.tell(std::move(denied), notification)) refuse_told(notification, error);
}

/// Refuses a call that needs no further telling, should it come again.
void Supervisor::refuse_told(const seccomp_notif& notification, int error) {
    // Such a program cannot even exit, and might try for ever. Its thread takes the signal before it runs on.
    if (!is_native(notification.data)) sys::raw_syscall(SYS_tkill, static_cast<long>(notification.pid), SIGSYS);
    if (!respond(notification.id, error) && !support_.wait_killable)
        interrupted_.keep_refused(static_cast<pid_t>(notification.pid), notification.data, error);
}

void Supervisor::on_acknowledged(std::uint64_t id) {
    if (const auto waiting = told_.take(id)) refuse_told(waiting->notification, waiting->error);
}

void Supervisor::let_go_on(std::uint64_t cookie) { (void)respond(cookie, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE); }

bool Supervisor::respond(std::uint64_t cookie, int error, unsigned flags, std::int64_t value) {
    seccomp_notif_resp response{};
    response.id = cookie;
    response.val = value;
    response.error = -error;
    response.flags = flags;
    // ENOENT: the caller died or was interrupted, and hears nothing. Nothing else can fail here.
    return sys::raw_syscall(SYS_ioctl, listener_.get(), static_cast<long>(SECCOMP_IOCTL_NOTIF_SEND),
                            sys::word(&response)) >= 0;
}

}  // namespace sandpipe::launcher
