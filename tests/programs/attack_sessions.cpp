// attack_sessions PART ROUNDS: one half of an act that is forbidden to both halves together; the other half runs in
// another session on the same directory, in which "m/n" is forbidden. Prints "tried", "WON", or "IDLE" if not
// one of its acts came about.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

namespace {

int g_rounds = 0;
int g_done = 0;
bool g_connected = false;
const std::string g_longest(255, 'e');  // no name beside it can be made of it by adding to it

bool exists(const char* path) {
    struct stat status {};
    return ::lstat(path, &status) == 0;
}

/// What is there for a moment only has been taken back.
bool stays(const char* path) {
    for (int i = 0; i < 20; ++i) {
        if (!exists(path)) return false;
        ::usleep(5000);
    }
    return true;
}

void done_if(int result) { g_done += result == 0; }

void make_file(const char* path) { ::close(::open(path, O_CREAT | O_WRONLY, 0644)); }

void make_filled() {
    ::mkdir("g", 0755);
    ::mkdir("g/n", 0755);
}

// What is renamed is a file when it is judged, and a directory with the name in it a moment later.
void rename_file() {
    make_file("e");
    done_if(::rename("e", "m"));
}
void clear_file() {
    ::unlink("m");
    ::rmdir("m");
}
void exchange_file() {
    make_filled();
    done_if(::renameat2(AT_FDCWD, "e", AT_FDCWD, "g", RENAME_EXCHANGE));
}

// What is linked becomes a symbolic link to such a directory.
void link_file() {
    make_file("f");
    done_if(::link("f", "m"));
}
void exchange_link() {
    make_filled();
    ::symlink("g", "s");
    done_if(::renameat2(AT_FDCWD, "f", AT_FDCWD, "s", RENAME_EXCHANGE));
}

// A directory gets the forbidden name while something is made in it, brought to it or taken from it.
void move_directory() {
    ::mkdir("b", 0755);
    done_if(::rename("b", "m"));
}
void clear_directory() {
    ::rmdir("m");
    static int number = 0;  // what is in the way has something in it
    if (exists("b/n")) ::rename("b/n", ("away" + std::to_string(++number)).c_str());
}

void take_away() {
    ::mkdir("x", 0755);
    make_file("x/file");
    if (::rename("x", "b/n") == 0) done_if(::rename("b/n", "x"));
}

void bring_longest() {
    ::mkdir(g_longest.c_str(), 0755);
    make_file((g_longest + "/file").c_str());
    done_if(::rename(g_longest.c_str(), "b/n"));
    ::mkdir(g_longest.c_str(), 0755);
}

int bind_at(const char* path) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ::strcpy(address.sun_path, path);
    done_if(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address));
    return socket;
}

void bind_socket() {
    ::close(bind_at("b/n"));
    ::unlink("b/n");
}

// The directory that a socket is made in is another one when the kernel walks there.
void bind_through_link() {
    for (int i = 0; i < 20; ++i) {
        ::close(bind_at("l/n"));
        ::unlink("l/n");
    }
}
void flip_link() {
    ::mkdir("m", 0755);
    ::mkdir("s", 0755);
    ::symlink("s", "l");
    ::symlink("m", "other");
    for (int i = 0; i < 20; ++i) done_if(::renameat2(AT_FDCWD, "l", AT_FDCWD, "other", RENAME_EXCHANGE));
}

// What stands at the name of a socket just made is one of the host's, "host", when that is looked at. Ours does not
// listen.
void bind_and_connect_once() {
    const int made = bind_at("d/x");
    const int visitor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const sockaddr_un address{AF_UNIX, "d/x"};
    if (::connect(visitor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) g_connected = true;
    ::close(visitor);
    ::close(made);
    ::unlink("d/x");
}
void bind_and_connect() {
    ::mkdir("d", 0755);
    for (int i = 0; i < 20 && !g_connected; ++i) bind_and_connect_once();
}
void bring_socket() {
    ::mkdir("d", 0755);
    for (int i = 0; i < 20; ++i) {
        ::link("host", "t");
        done_if(::rename("t", "d/x"));
    }
}

void nothing() {}

struct Part {
    const char* name;
    void (*act)();
    void (*clear)();
};

constexpr Part kParts[] = {
    {"rename-file", rename_file, clear_file},
    {"exchange-file", exchange_file, nothing},
    {"link-file", link_file, clear_file},
    {"exchange-link", exchange_link, nothing},
    {"move-directory", move_directory, clear_directory},
    {"take-away", take_away, nothing},
    {"bring-longest", bring_longest, nothing},
    {"bind-socket", bind_socket, nothing},
    {"bind-through-link", bind_through_link, nothing},
    {"flip-link", flip_link, nothing},
    {"bind-and-connect", bind_and_connect, nothing},
    {"bring-socket", bring_socket, nothing},
};

int run(const Part& part) {
    for (int i = 0; i < g_rounds; ++i) {
        part.act();
        if (g_connected || stays("m/n")) {
            puts("WON");
            return 1;
        }
        part.clear();
    }
    puts(g_done > 0 ? "tried" : "IDLE");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    g_rounds = atoi(argv[2]);
    for (const Part& part : kParts)
        if (strcmp(argv[1], part.name) == 0) return run(part);
    return 2;
}
