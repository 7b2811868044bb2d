#include "sandbox/entrance_socket.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sys/descriptors.hpp"

namespace sandpipe {
namespace {

constexpr const char* kSocketName = "/enter";
constexpr int kBacklog = 4096;

bool links_can_be_followed() { return ::prctl(PR_GET_DUMPABLE) == 1; }

}  // namespace

EntranceSocket::~EntranceSocket() { remove_names(); }

int EntranceSocket::open(const std::vector<std::string>& directories) {
    int error = -ENOENT;
    for (const std::string& directory : directories) {
        error = open_in(directory);
        if (error == 0) return 0;
        remove_names();
    }
    return error;
}

int EntranceSocket::open_in(const std::string& directory) {
    std::string name = directory + "/sandpipe-XXXXXX";
    if (!::mkdtemp(name.data())) return -errno;
    directory_ = name;
    owner_ = ::getpid();
    if (const int error = bind_to(directory_ + kSocketName); error < 0) return error;
    if (const int error = sys::open_file((directory_ + kSocketName).c_str(), O_PATH | O_NOFOLLOW, 0, inode_); error < 0)
        return error;
    if (::listen(listener_.get(), kBacklog) < 0) return -errno;
    if (links_can_be_followed()) remove_names();
    return 0;
}

int EntranceSocket::bind_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return -ENAMETOOLONG;
    std::memcpy(address.sun_path, path.data(), path.size());
    listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener_) return -errno;
    if (const int error = sys::lift(listener_); error < 0) return error;
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) return -errno;
    // Whatever the umask is; the directory keeps others out.
    return ::chmod(path.c_str(), 0600) < 0 ? -errno : 0;
}

void EntranceSocket::remove_names() noexcept {
    if (directory_.empty() || ::getpid() != owner_) return;
    ::unlink((directory_ + kSocketName).c_str());
    ::rmdir(directory_.c_str());
    directory_.clear();
}

int EntranceSocket::publish() {
    if (published_ || !directory_.empty()) return 0;
    return sys::duplicate(inode_.get(), published_);
}

std::string EntranceSocket::address() const {
    if (!directory_.empty()) return directory_ + kSocketName;
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(published_.get());
}

}  // namespace sandpipe
