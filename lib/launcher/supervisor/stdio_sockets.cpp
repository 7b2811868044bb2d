#include "launcher/supervisor/stdio_sockets.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace sandpipe::launcher {

bool have_network_socket(const std::vector<unique_fd>& stdio) {
    return std::any_of(stdio.begin(), stdio.end(), [](const unique_fd& fd) {
        int family = 0;
        socklen_t size = sizeof family;
        if (::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &size) < 0) return errno != ENOTSOCK;
        return family != AF_UNIX;
    });
}

}  // namespace sandpipe::launcher
