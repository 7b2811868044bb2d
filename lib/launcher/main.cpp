#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "launcher/kernel/features.hpp"
#include "launcher/launcher.hpp"
#include "launcher/relay.hpp"
#include "launcher/supervisor/connect.hpp"
#include "sys/raw_syscall.hpp"
#include "wire/feature_limits.hpp"

namespace {

constexpr int kControlFd = 3;
constexpr int kHostFd = 4;

bool is_seqpacket(int fd) {
    int type = 0;
    socklen_t size = sizeof type;
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

/// The commands must find every signal as a fresh login shell would, whatever the host did with its own. libc keeps
/// its hands on two of them, which can be ignored all the same, so the kernel is asked directly.
void reset_signals() {
    constexpr std::size_t kSetBytes = 8;
    const std::uint64_t default_action[4]{};  // struct kernel_sigaction of both architectures, at most
    const std::uint64_t no_signals = 0;
    for (int signal = 1; signal <= 64; ++signal)
        sandpipe::sys::raw_syscall(SYS_rt_sigaction, signal, sandpipe::sys::word(default_action), 0, kSetBytes);
    sandpipe::sys::raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, sandpipe::sys::word(&no_signals), 0, kSetBytes);
}

bool open_dev_null() {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return false;
    for (int fd = 0; fd < 3; ++fd)
        if (null != fd && ::dup2(null, fd) < 0) return false;
    if (null > 2) ::close(null);
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    if (sandpipe::launcher::is_relay(argc, argv)) return sandpipe::launcher::run_relay(argc, argv);
    using std::string_view_literals::operator""sv;
    if (argc == 4 && argv[1] == "connect"sv) return sandpipe::launcher::run_connect(argv[2], argv[3]);
    sandpipe::wire::FeatureLimits limits;
    const bool lowered = argc == 3 && argv[1] == "without"sv;
    if (lowered && !sandpipe::wire::parse_feature_limits(argv[2], limits)) return 2;
    sandpipe::launcher::lower_features(limits);
    if (!is_seqpacket(kControlFd)) {
        constexpr char kText[] = "sandpipe-launcher: started by libsandpipe, not by hand\n";
        return ::write(2, kText, sizeof kText - 1) < 0 ? 3 : 2;
    }
    // A program that is executed by descriptor would be named after its number.
    ::prctl(PR_SET_NAME, "sandpipe-launch");
    reset_signals();
    ::setsid();
    if (!open_dev_null() || ::chdir("/") < 0) return 1;
    for (const int fd : {kControlFd, kHostFd})
        if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return 1;
    return sandpipe::launcher::Launcher(sandpipe::unique_fd(kControlFd), sandpipe::unique_fd(kHostFd)).run();
}
