#include "launcher/network.hpp"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sandpipe/unique_fd.hpp>

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

}  // namespace sandpipe::launcher
