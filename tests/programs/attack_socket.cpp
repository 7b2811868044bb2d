// attack_socket KIND FORBIDDEN ROUNDS: tries to connect to a socket of the host, at the path FORBIDDEN, by changing
// what is judged. Prints "tried"; whether it won is for the host's listener to tell.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

std::atomic<bool> g_over{false};
std::string g_forbidden;
int g_rounds = 0;
sockaddr_storage g_address;

sockaddr_storage unix_name(const std::string& path) {
    sockaddr_storage storage{};
    auto& named = reinterpret_cast<sockaddr_un&>(storage);
    named.sun_family = AF_UNIX;
    memcpy(named.sun_path, path.c_str(), path.size() + 1);
    return storage;
}

sockaddr_storage loopback() {
    sockaddr_storage storage{};
    auto& four = reinterpret_cast<sockaddr_in&>(storage);
    four.sin_family = AF_INET;
    four.sin_port = htons(9);
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return storage;
}

int listen_at(const char* path) {
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_storage name = unix_name(path);
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof(sockaddr_un)) < 0 ||
        ::listen(listener, 4) < 0)
        perror("own listener"), exit(2);
    return listener;
}

int dial(int socket, const sockaddr_storage& address) {
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(sockaddr_un));
}

/// What connects is told by what it says.
void connect_and_say(const sockaddr_storage& address, int flags) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | flags, 0);
    if (dial(socket, address) == 0 && ::write(socket, "x", 1) < 0) perror("write");
    ::close(socket);
}

void drain(int listener) {
    ::fcntl(listener, F_SETFL, O_NONBLOCK);
    for (int one; (one = ::accept(listener, nullptr, nullptr)) >= 0;) ::close(one);
}

void flip_addresses(sockaddr_storage one, sockaddr_storage other) {
    while (!g_over) {
        memcpy(&g_address, &one, sizeof(sockaddr_un));
        memcpy(&g_address, &other, sizeof(sockaddr_un));
    }
}

void by_memory() {
    const int own = listen_at("mine.sock");
    std::thread flipper(flip_addresses, unix_name("mine.sock"), unix_name(g_forbidden));
    for (int i = 0; i < g_rounds; ++i) {
        connect_and_say(g_address, i % 2 ? SOCK_NONBLOCK : 0);
        drain(own);
    }
    g_over = true;
    flipper.join();
}

void by_links() {
    const int own = listen_at("mine.sock");
    std::thread flipper([] {
        while (!g_over) {
            ::symlink(g_forbidden.c_str(), "l1");
            ::rename("l1", "l");
            ::symlink("mine.sock", "l2");
            ::rename("l2", "l");
        }
    });
    for (int i = 0; i < g_rounds; ++i) {
        connect_and_say(unix_name("l"), 0);
        drain(own);
    }
    g_over = true;
    flipper.join();
}

/// The descriptor is an inet socket when it is looked at, and a UNIX one a moment later.
void by_descriptors() {
    const int inet = ::socket(AF_INET, SOCK_STREAM, 0);
    const int target = ::dup(inet);
    std::thread flipper([&] {
        while (!g_over) {
            const int unix_socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
            ::dup2(unix_socket, target);
            ::close(unix_socket);
            ::dup2(inet, target);
        }
    });
    std::thread addresses(flip_addresses, loopback(), unix_name(g_forbidden));
    for (int i = 0; i < g_rounds; ++i)
        if (dial(target, g_address) == 0 && ::write(target, "x", 1) < 0) perror("write");
    g_over = true;
    flipper.join();
    addresses.join();
}

/// connect waits for a listener that accepts nobody, and the command's other threads go on.
void blocked() {
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_storage name = unix_name("full.sock");
    ::bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof(sockaddr_un));
    ::listen(listener, 0);
    std::thread waiting([&] {
        for (int i = 0; i < 3; ++i) dial(::socket(AF_UNIX, SOCK_STREAM, 0), name);
        puts("connected");
        fflush(stdout);
    });
    for (int i = 0; i < g_rounds; ++i) ::close(::open(("f" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0644));
    puts("made");
    fflush(stdout);
    char go;
    if (::read(0, &go, 1) < 0) perror("read");
    for (int i = 0; i < 3; ++i) ::accept(listener, nullptr, nullptr);
    waiting.join();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::string kind = argv[1];
    g_forbidden = argv[2];
    g_rounds = atoi(argv[3]);
    g_address = loopback();
    if (kind == "memory") by_memory();
    if (kind == "links") by_links();
    if (kind == "descriptors") by_descriptors();
    if (kind == "blocked") blocked();
    puts("tried");
}
