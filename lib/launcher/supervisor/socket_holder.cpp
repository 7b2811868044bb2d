#include "launcher/supervisor/socket_holder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "launcher/kernel/proc_file.hpp"
#include "sys/directory.hpp"

namespace sandpipe::launcher {
namespace {

using sys::Directory;

/// The inode in a line of /proc/net/tcp or tcp6 if it is the socket that is wanted, else 0. Addresses are printed
/// as 32-bit words of the machine; an IPv4 address mapped to IPv6 is the last of four.
unsigned long inode_in(const std::string& line, const wire::FindSocketHolder& wanted) {
    char own[33];
    char peer[33];
    unsigned own_port = 0;
    unsigned peer_port = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), " %*u: %32[0-9A-F]:%4x %32[0-9A-F]:%4x %*x %*x:%*x %*x:%*x %*x %*u %*u %lu", own,
                    &own_port, peer, &peer_port, &inode) != 5)
        return 0;
    const std::string_view address(own);
    if (own_port != wanted.port || peer_port != wanted.peer_port || address.size() < 8) return 0;
    const std::string last_word(address.substr(address.size() - 8));
    return std::strtoul(last_word.c_str(), nullptr, 16) == wanted.address ? inode : 0;
}

unsigned long find_inode(const wire::FindSocketHolder& wanted) {
    for (const char* table : {"net/tcp", "net/tcp6"}) {
        const std::string text = read_proc_file(::getpid(), table);
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            if (const unsigned long inode = inode_in(text.substr(begin, end - begin), wanted); inode != 0)
                return inode;
            begin = end + 1;
        }
    }
    return 0;
}

bool holds_socket(pid_t pid, const std::string& link) {
    const std::string path = "/proc/" + std::to_string(pid) + "/fd";
    const Directory fds(::opendir(path.c_str()));
    if (!fds) return false;
    while (const dirent* entry = ::readdir(fds.get())) {
        char target[64];
        const ssize_t size = ::readlinkat(::dirfd(fds.get()), entry->d_name, target, sizeof target);
        if (size > 0 && std::string_view(target, static_cast<std::size_t>(size)) == link) return true;
    }
    return false;
}

}  // namespace

wire::SocketHolder find_socket_holder(const wire::FindSocketHolder& wanted) {
    wire::SocketHolder holder;
    holder.id = wanted.id;
    const unsigned long inode = find_inode(wanted);
    const Directory proc(inode != 0 ? ::opendir("/proc") : nullptr);
    if (!proc) return holder;
    const std::string link = "socket:[" + std::to_string(inode) + "]";
    while (const dirent* entry = ::readdir(proc.get())) {
        const pid_t pid = std::atoi(entry->d_name);
        if (pid <= 1 || !holds_socket(pid, link)) continue;
        holder.pid = pid;
        holder.program = read_proc_file(pid, "comm");
        if (holder.program.ends_with('\n')) holder.program.pop_back();
        break;
    }
    return holder;
}

}  // namespace sandpipe::launcher
