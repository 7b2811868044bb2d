#include "launcher/cell/network.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace sandpipe::launcher {

int bring_up_loopback() {
    const unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket) return -errno;
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) < 0) return -errno;
    request.ifr_flags |= IFF_UP;
    return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

int listen_on_loopback(std::uint16_t port, unique_fd& listener) {
    listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener) return -errno;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) return -errno;
    return ::listen(listener.get(), SOMAXCONN) < 0 ? -errno : 0;
}

}  // namespace sandpipe::launcher
