#include "launcher/supervisor/connector.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

/// Whatever O_NONBLOCK says: another thread of the command may clear it before the call is made.
bool may_block(int socket) {
    int type = 0;
    socklen_t size = sizeof type;
    return ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

/// A restarted connect would have all of its time again, so the kernel restarts none that is limited (sock_intr_errno
/// in include/net/sock.h).
bool is_limited(int socket) {
    timeval limit{};
    socklen_t size = sizeof limit;
    ::getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, &size);
    return limit.tv_sec != 0 || limit.tv_usec != 0;
}

}  // namespace

int Connector::connect(Request request) {
    const int socket = request.socket.get();
    if (!may_block(socket)) {
        const int error = ::connect(socket, request.address.data(), request.address.size) < 0 ? -errno : 0;
        return settle(request, error, error == 0);
    }
    const auto kept = std::make_shared<Request>(std::move(request));
    const int error = calls_.start(
        {kept->cookie, kept->thread, SYS_connect, {socket, sys::word(kept->address.data()), kept->address.size}, kept});
    return error < 0 ? error : kLater;
}

/// The socket is the caller's, and may be in use already: it cannot be unmade, only cut off.
int Connector::settle(const Request& request, int error, bool connected) {
    const int wrong = connected && request.check ? request.check() : 0;
    if (wrong == 0) return error;
    ::shutdown(request.socket.get(), SHUT_RDWR);
    const sockaddr nobody{AF_UNSPEC, {}};
    if (!may_block(request.socket.get())) (void)::connect(request.socket.get(), &nobody, sizeof nobody);
    return wrong;
}

bool Connector::on_child(pid_t pid, const Done& done) {
    const auto ended = calls_.on_child(pid);
    if (!ended) return false;
    const bool restarts = ended->value == -BlockingCalls::kRestart;
    const auto& request = *static_cast<const Request*>(ended->call.kept.get());
    const int error = restarts && is_limited(request.socket.get()) ? -EINTR : ended->value;
    done(ended->call.cookie, settle(request, error, error == 0 || ended->unknown));
    return true;
}

}  // namespace sandpipe::launcher
