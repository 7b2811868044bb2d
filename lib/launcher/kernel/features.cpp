#include "launcher/kernel/features.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "launcher/kernel/landlock.hpp"
#include "launcher/kernel/privileges.hpp"
#include "sys/descriptors.hpp"
#include "sys/kernel.hpp"
#include "sys/raw_syscall.hpp"
#include "wire/packet_socket.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kPatienceMs = 20'000;
constexpr unsigned kTriedCall = SYS_getppid;

wire::FeatureLimits& limits() noexcept {
    static wire::FeatureLimits lowered;
    return lowered;
}

/// 0, or errno.
int refuses_filter(unsigned long flags) noexcept {
    // The kernel looks at the flags before it reads the program, which is not there.
    const long error = sys::raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, static_cast<long>(flags), 0);
    return error == -EFAULT ? 0 : static_cast<int>(-error);
}

/// Makes a call that waits for the answer of whoever gets the listener.
[[noreturn]] void make_notified_call(int socket) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kTriedCall, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{sizeof program / sizeof *program, program};
    int listener = set_no_new_privs();
    if (listener == 0)
        listener = static_cast<int>(sys::raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                                     static_cast<long>(sys::kSeccompFilterFlagNewListener),
                                                     sys::word(&filter)));
    const std::string error(reinterpret_cast<const char*>(&listener), sizeof listener);
    const int fds[] = {listener};
    const bool made = listener >= 0;
    if (wire::send_packet(socket, error, std::span(fds).first(made ? 1 : 0)) == 0 && made)
        sys::raw_syscall(static_cast<long>(kTriedCall));
    ::_exit(0);
}

/// 0, or -errno.
int wait_for(int fd) {
    pollfd ready{fd, POLLIN, 0};
    const int count = ::poll(&ready, 1, kPatienceMs);
    return count < 0 ? -errno : count == 0 ? -ETIMEDOUT : 0;
}

int receive_listener(int socket, unique_fd& listener) {
    int error = wait_for(socket);
    if (error < 0) return error;
    wire::Packet packet;
    const int got = wire::receive_packet(socket, packet);
    if (got <= 0) return got < 0 ? got : -ECHILD;
    if (packet.bytes.size() != sizeof error) return -EPROTO;
    std::memcpy(&error, packet.bytes.data(), sizeof error);
    if (packet.fds.empty()) return error < 0 ? error : -EPROTO;
    listener = std::move(packet.fds.front());
    return 0;
}

/// As Supervisor does it, for a sandbox around this one may let a listener be made and not be used.
int answer_one_call(int listener, bool& addfd_send) {
    if (const int error = wait_for(listener); error < 0) return error;
    std::vector<std::uint64_t> buffer(notification_size() / sizeof(std::uint64_t) + 1);
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, buffer.data()) < 0) return -errno;
    seccomp_notif notification{};
    std::memcpy(&notification, buffer.data(), sizeof notification);
    seccomp_notif_addfd added{};
    added.id = notification.id;
    added.srcfd = ~0U;  // no descriptor: EBADF comes after all that is about flags, which are EINVAL
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added) == 0 || errno != EBADF) return -ENOSYS;
    added.flags = SECCOMP_ADDFD_FLAG_SEND;
    addfd_send = ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added) < 0 && errno == EBADF;
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &notification.id) < 0) return -errno;
    seccomp_notif_resp response{};
    response.id = notification.id;
    return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) < 0 ? -errno : 0;
}

/// 0, or the errno of what fails between a child and its supervisor.
int try_notification(bool& addfd_send) {
    sys::SocketPair pair;
    if (const int error = sys::make_socket_pair(pair); error < 0) return -error;
    const long child = sys::raw_syscall(SYS_clone, SIGCHLD);
    if (child < 0) return static_cast<int>(-child);
    if (child == 0) make_notified_call(pair.second.get());
    pair.second.reset();
    unique_fd listener;
    int error = receive_listener(pair.first.get(), listener);
    if (error == 0) error = answer_one_call(listener.get(), addfd_send);
    ::kill(static_cast<pid_t>(child), SIGKILL);
    while (::waitpid(static_cast<pid_t>(child), nullptr, 0) < 0 && errno == EINTR) continue;
    return -error;
}

/// 0, or the errno of what a supervisor needs to know its callers by. Of itself a process may know all, so what refuses
/// is no lack of rights.
int try_to_look_into_processes() {
    const pid_t self = ::getpid();
    char seen = 0;
    const char shown = 1;
    const iovec to{&seen, 1};
    const iovec from{const_cast<char*>(&shown), 1};
    if (::process_vm_readv(self, &to, 1, &from, 1, 0) != 1) return errno;
    unique_fd process;
    if (const int error = sys::open_pidfd(self, process); error < 0) return -error;
    const long taken = sys::raw_syscall(SYS_pidfd_getfd, process.get(), process.get(), 0);
    if (taken < 0) return static_cast<int>(-taken);
    const unique_fd copy(static_cast<int>(taken));
    return 0;
}

int find_listener_error(bool& addfd_send) {
    const int error = try_to_look_into_processes();
    return error != 0 ? error : try_notification(addfd_send);
}

Features probe() {
    Features found;
    const wire::FeatureLimits& lowered = limits();
    found.landlock_abi = std::min(landlock_abi(), lowered.landlock_abi);
    found.listener_error = lowered.listener ? find_listener_error(found.addfd_send) : EINVAL;
    found.addfd_send = found.addfd_send && lowered.addfd_send;
    found.filter_error = refuses_filter(0);
    found.wait_killable =
        lowered.wait_killable &&
        refuses_filter(sys::kSeccompFilterFlagNewListener | sys::kSeccompFilterFlagWaitKillableRecv) == 0;
    return found;
}

}  // namespace

const Features& features() {
    static const Features found = probe();
    return found;
}

void lower_features(const wire::FeatureLimits& lowered) noexcept { limits() = lowered; }

bool may_use_close_range() noexcept { return limits().close_range; }

std::size_t notification_size() noexcept {
    seccomp_notif_sizes sizes{};
    const long error = sys::raw_syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, sys::word(&sizes));
    return error < 0 ? sizeof(seccomp_notif) : std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif));
}

}  // namespace sandpipe::launcher
