#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/launcher.hpp"

namespace {

constexpr int kControlFd = 3;
constexpr int kHostFd = 4;

bool is_seqpacket(int fd) {
    int type = 0;
    socklen_t size = sizeof type;
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

/// The commands must find every signal as a fresh login shell would, whatever the host did with its own.
void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
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

int main() {
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
