#include "launcher/supervisor/bound_inode.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sandpipe/unique_fd.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "launcher/kernel/proc_file.hpp"

namespace sandpipe::launcher {
namespace {

struct Question {
    nlmsghdr header{};
    unix_diag_req request{};
};

int ask_about(int socket, Question& question) {
    struct stat status {};
    std::uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    if (::fstat(socket, &status) < 0 || ::getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &size) < 0) return -errno;
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    question.request.sdiag_family = AF_UNIX;
    question.request.udiag_ino = static_cast<std::uint32_t>(status.st_ino);
    question.request.udiag_show = UDIAG_SHOW_VFS;
    question.request.udiag_cookie[0] = static_cast<std::uint32_t>(cookie);
    question.request.udiag_cookie[1] = static_cast<std::uint32_t>(cookie >> 32);
    return 0;
}

/// The kernel has answered by the time that the question is sent.
int exchange(const Question& question, void* answer, std::size_t room) {
    const unique_fd kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    if (!kernel) return -errno;
    if (::sendto(kernel.get(), &question, sizeof question, 0, reinterpret_cast<const sockaddr*>(&address),
                 sizeof address) < 0)
        return -errno;
    const ssize_t bytes = ::recv(kernel.get(), answer, room, MSG_DONTWAIT);
    return bytes < 0 ? -errno : static_cast<int>(bytes);
}

int read_answer(const nlmsghdr* header, int bytes, unix_diag_vfs& found) {
    if (!NLMSG_OK(header, static_cast<std::uint32_t>(bytes))) return -EPROTO;
    if (header->nlmsg_type == NLMSG_ERROR) {
        nlmsgerr refusal{};
        if (header->nlmsg_len < NLMSG_LENGTH(sizeof refusal)) return -EPROTO;
        std::memcpy(&refusal, NLMSG_DATA(header), sizeof refusal);
        return refusal.error < 0 ? refusal.error : -EPROTO;
    }
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(unix_diag_msg))) return -EPROTO;
    auto left = static_cast<int>(header->nlmsg_len - NLMSG_SPACE(sizeof(unix_diag_msg)));
    const auto* data = static_cast<const char*>(NLMSG_DATA(header)) + NLMSG_ALIGN(sizeof(unix_diag_msg));
    const auto* part = reinterpret_cast<const rtattr*>(data);
    for (; RTA_OK(part, left); part = RTA_NEXT(part, left)) {
        if (part->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(part) < sizeof found) continue;
        std::memcpy(&found, RTA_DATA(part), sizeof found);
        return 0;
    }
    return -ENOENT;
}

/// As the kernel counts it: stat(2) of some file systems (overlays) says another number.
std::uint64_t inode_of(int object) {
    constexpr std::string_view kKey = "\nino:\t";
    const std::string content = read_proc_file(::getpid(), ("fdinfo/" + std::to_string(object)).c_str());
    const std::size_t at = content.find(kKey);
    if (at != std::string::npos) return std::strtoull(content.c_str() + at + kKey.size(), nullptr, 10);
    struct stat status {};
    return ::fstat(object, &status) < 0 ? 0 : status.st_ino;
}

}  // namespace

int is_bound_to(int socket, int object) {
    Question question;
    alignas(nlmsghdr) char answer[1024];
    unix_diag_vfs found{};
    int result = ask_about(socket, question);
    if (result == 0) result = exchange(question, answer, sizeof answer);
    if (result >= 0) result = read_answer(reinterpret_cast<const nlmsghdr*>(answer), result, found);
    if (result < 0) return result;
    return found.udiag_vfs_ino == static_cast<std::uint32_t>(inode_of(object)) ? 1 : 0;
}

}  // namespace sandpipe::launcher
