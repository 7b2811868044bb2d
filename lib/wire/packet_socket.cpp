#include "packet_socket.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "codec.hpp"
#include "messages.hpp"
#include "sys/descriptors.hpp"

namespace sandpipe::wire {
namespace {

// Stands in place of a message whose body is in the packet's last descriptor.
constexpr std::uint32_t kDetached = 0x64657461;

union ControlBuffer {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * kMaxPacketFds)];
};

int send_one(int socket, std::string_view bytes, std::span<const int> fds) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    ControlBuffer control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (!fds.empty()) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
    }
    ssize_t sent;
    do sent = ::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int send_detached(int socket, std::string_view bytes, std::span<const int> fds) {
    if (bytes.size() > kMaxBodyBytes) return -E2BIG;
    unique_fd body;
    if (const int error = sys::make_sealed_memfd("sandpipe-message", bytes.data(), bytes.size(), false, body);
        error < 0)
        return error;
    std::array<int, kMaxPacketFds> all{};
    std::copy(fds.begin(), fds.end(), all.begin());
    all[fds.size()] = body.get();
    const std::string stub = Encoder().number(kDetached).take();
    return send_one(socket, stub, std::span(all).first(fds.size() + 1));
}

void take_descriptors(msghdr& header, std::vector<unique_fd>& fds) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
            fds.emplace_back(fd);
        }
    }
}

int read_body(Packet& packet) {
    if (packet.fds.empty()) return -EPROTO;
    const unique_fd body = std::move(packet.fds.back());
    packet.fds.pop_back();
    struct stat facts;
    if (::fstat(body.get(), &facts) < 0) return -errno;
    if (!S_ISREG(facts.st_mode)) return -EPROTO;
    if (facts.st_size > static_cast<off_t>(kMaxBodyBytes)) return -E2BIG;
    packet.bytes.resize(static_cast<std::size_t>(facts.st_size));
    std::size_t done = 0;
    while (done < packet.bytes.size()) {
        const ssize_t got = ::pread(body.get(), packet.bytes.data() + done, packet.bytes.size() - done,
                                    static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -EPROTO;
        done += static_cast<std::size_t>(got);
    }
    return 1;
}

bool is_detached(std::string_view bytes) noexcept {
    std::uint32_t value = 0;
    return Decoder(bytes).number(value).complete() && value == kDetached;
}

}  // namespace

int send_packet(int socket, std::string_view bytes, std::span<const int> fds) {
    if (fds.size() >= kMaxPacketFds) return -EINVAL;
    return bytes.size() > kMaxInlineBytes ? send_detached(socket, bytes, fds) : send_one(socket, bytes, fds);
}

int receive_packet(int socket, Packet& packet) {
    packet.fds.clear();
    packet.bytes.resize(kMaxPacketBytes);
    iovec part{packet.bytes.data(), packet.bytes.size()};
    ControlBuffer control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    ssize_t got;
    // The other end has closed with something of ours unread: the kernel says so once, before what it had sent.
    do got = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    if (got < 0) return -errno;
    take_descriptors(header, packet.fds);
    packet.bytes.resize(static_cast<std::size_t>(got));
    if (got == 0) return 0;
    if (header.msg_flags & MSG_TRUNC) return -EPROTO;
    if (header.msg_flags & MSG_CTRUNC) return -EMFILE;
    for (unique_fd& fd : packet.fds)
        if (const int error = sys::lift(fd); error < 0) return error;
    return is_detached(packet.bytes) ? read_body(packet) : 1;
}

}  // namespace sandpipe::wire
