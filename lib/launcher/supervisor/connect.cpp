#include "launcher/supervisor/connect.hpp"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sandpipe/unique_fd.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "wire/proxy_ports.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMaxAnswer = 16 * 1024;

int complain(std::string_view what, int error = 0) {
    std::string text = "sandpipe-launcher connect: " + std::string(what);
    if (error != 0) text += std::string(": ") + std::strerror(error);
    text += "\n";
    return ::write(STDERR_FILENO, text.data(), text.size()) < 0 ? 2 : 1;
}

/// What would end the request's line, or an argument of its.
bool is_plain(std::string_view text) {
    const auto plain = [](char c) { return c > ' ' && c < 0x7f; };
    return !text.empty() && std::all_of(text.begin(), text.end(), plain);
}

int dial_proxy(unique_fd& proxy) {
    proxy.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!proxy) return errno;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(wire::kHttpProxyPort);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* place = reinterpret_cast<const sockaddr*>(&address);
    return ::connect(proxy.get(), place, sizeof address) < 0 ? errno : 0;
}

bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) return false;
        if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

/// Byte by byte, because what follows belongs to the tunnel.
std::string read_head(int socket) {
    std::string head;
    char byte = 0;
    while (head.size() < kMaxAnswer && !head.ends_with("\r\n\r\n") && ::recv(socket, &byte, 1, 0) == 1)
        head += byte;
    return head;
}

std::string read_rest(int socket) {
    std::string rest;
    std::array<char, 1024> buffer;
    for (ssize_t got; rest.size() < kMaxAnswer && (got = ::recv(socket, buffer.data(), buffer.size(), 0)) > 0;)
        rest.append(buffer.data(), static_cast<std::size_t>(got));
    while (rest.ends_with('\n')) rest.pop_back();
    return rest;
}

/// One direction. What was read and not yet written waits in the buffer, and nothing is read meanwhile.
struct Direction {
    int from;
    int to;
    bool to_socket;
    std::array<char, 16 * 1024> buffer{};
    std::size_t begin = 0;
    std::size_t end = 0;
    bool over = false;

    [[nodiscard]] bool full() const { return begin < end; }
    [[nodiscard]] pollfd interest() const {
        if (over) return {-1, 0, 0};
        return full() ? pollfd{to, POLLOUT, 0} : pollfd{from, POLLIN, 0};
    }
    void read_some() {
        const ssize_t got = ::read(from, buffer.data(), buffer.size());
        begin = 0;
        end = got > 0 ? static_cast<std::size_t>(got) : 0;
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) finish();
    }
    /// Only as much as cannot block: a pipe that is writable has room for PIPE_BUF (poll(2)).
    void write_some() {
        const std::size_t size = end - begin;
        const ssize_t put = to_socket ? ::send(to, buffer.data() + begin, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                                      : ::write(to, buffer.data() + begin, std::min<std::size_t>(size, PIPE_BUF));
        if (put > 0) begin += static_cast<std::size_t>(put);
        if (put < 0 && errno != EINTR && errno != EAGAIN) over = true;
    }
    void finish() {
        over = true;
        if (to_socket)
            ::shutdown(to, SHUT_WR);
        else
            ::close(to);
    }
};

/// Until the far end has said everything: what ssh has still to say then is for nobody.
void relay(int socket) {
    Direction up{STDIN_FILENO, socket, true};
    Direction down{socket, STDOUT_FILENO, false};
    while (!down.over) {
        std::array<pollfd, 2> ready{up.interest(), down.interest()};
        if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
        if (ready[0].revents != 0) up.full() ? up.write_some() : up.read_some();
        if (ready[1].revents != 0) down.full() ? down.write_some() : down.read_some();
    }
}

}  // namespace

int run_connect(const char* host, const char* port) {
    if (!is_plain(host) || !is_plain(port)) return complain("HOST and PORT must be printable and not empty");
    ::signal(SIGPIPE, SIG_IGN);
    unique_fd proxy;
    if (const int error = dial_proxy(proxy); error != 0)
        return complain("this session has no proxy: its policy allows no domain", error);
    const bool bare_ipv6 = std::strchr(host, ':') && host[0] != '[';
    const std::string authority = (bare_ipv6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
    if (!send_all(proxy.get(),
                  "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\nConnection: close\r\n\r\n"))
        return complain("the proxy went away", errno);
    const std::string head = read_head(proxy.get());
    if (!head.starts_with("HTTP/1.1 200 ")) return complain(authority + ": " + read_rest(proxy.get()));
    relay(proxy.get());
    return 0;
}

}  // namespace sandpipe::launcher
