// attack_race KIND FORBIDDEN ROUNDS: tries to reach a forbidden place by changing what a path means while it
// is judged. Prints "tried", or "WON" and how. What it makes when it wins is an empty file of its own.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

std::atomic<bool> g_over{false};
std::string g_forbidden;
int g_rounds = 0;
char g_path[4096];

bool exists(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

[[noreturn]] void won(const char* how) {
    printf("WON %s\n", how);
    fflush(stdout);
    _exit(1);
}

void flip_links() {
    while (!g_over) {
        ::symlink(g_forbidden.c_str(), "l1");
        ::rename("l1", "l");
        ::symlink("a", "l2");
        ::rename("l2", "l");
    }
}

void flip_directories() {
    ::mkdir("flip-dir", 0755);
    ::symlink(g_forbidden.c_str(), "flip");
    while (!g_over) ::renameat2(AT_FDCWD, "flip", AT_FDCWD, "flip-dir", RENAME_EXCHANGE);
}

void flip_memory(const char* allowed) {
    while (!g_over) {
        memcpy(g_path, g_forbidden.c_str(), g_forbidden.size() + 1);
        memcpy(g_path, allowed, strlen(allowed) + 1);
    }
}

void make_below(const std::string& directory) {
    for (int i = 0; i < g_rounds; ++i) {
        const std::string name = directory + "/w" + std::to_string(i % 7);
        ::close(::open(name.c_str(), O_CREAT | O_WRONLY, 0644));
        ::close(::open((directory + "/file").c_str(), O_WRONLY | O_APPEND));
        ::mkdir((name + "d").c_str(), 0755);
        ::symlink("x", (name + "l").c_str());
        ::truncate((directory + "/file").c_str(), 0);
        ::chmod((directory + "/file").c_str(), 0600);
        ::rename(name.c_str(), (directory + "/moved").c_str());
        ::unlink(name.c_str());
        ::rmdir((name + "d").c_str());
        ::unlink((name + "l").c_str());
        ::unlink((directory + "/two").c_str());
    }
}

void act_on_memory() {
    for (int i = 0; i < g_rounds; ++i) {
        ::close(::open(g_path, O_CREAT | O_WRONLY, 0644));
        ::mkdir(g_path, 0755);
        ::symlink("x", g_path);
        ::rename("a/file", g_path);
        ::link("a/file", g_path);
        ::unlink(g_path);
        ::rmdir(g_path);
    }
    g_over = true;
    if (exists(g_forbidden)) won("a name was made");
}

void act_on_existing() {
    for (int i = 0; i < g_rounds; ++i) {
        struct stat real {
        }, got{};
        ::stat(g_forbidden.c_str(), &real);
        const int file = ::open(g_path, O_WRONLY);
        if (file >= 0 && ::fstat(file, &got) == 0 && got.st_ino == real.st_ino) won("a file was opened");
        ::close(file);
        ::truncate(g_path, 1);
        ::chmod(g_path, 0600);
        ::unlink(g_path);
        ::close(::open("mine", O_CREAT | O_WRONLY, 0644));
    }
}

// One brings directories that hold the name to its parent's name, the other takes the parent away.
void bring() {
    for (int i = 0; i < g_rounds; ++i) {
        ::mkdir("x", 0755);
        ::close(::open("x/no", O_CREAT | O_WRONLY, 0644));
        ::rename("x", "d");
        ::renameat2(AT_FDCWD, "x", AT_FDCWD, "d", RENAME_EXCHANGE);
        ::rename("x/no", "d/no");
        ::close(::open("d/no", O_CREAT | O_WRONLY, 0644));
        if (exists("d/no")) won("the denied name exists");
    }
}

void shuffle() {
    for (int i = 0; i < g_rounds; ++i) {
        ::mkdir("d", 0755);
        ::rename("d", "y");
        ::rename("y", "d");
        ::renameat2(AT_FDCWD, "d", AT_FDCWD, "x", RENAME_EXCHANGE);
        ::rmdir("d");
        ::rename("x", "y/x");
        if (exists("d/no")) won("the denied name exists");
        ::rename("y/x", "x");
        ::rmdir("y");
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::string kind = argv[1];
    g_forbidden = argv[2];
    g_rounds = atoi(argv[3]);
    std::thread flipper;
    if (kind == "links") flipper = std::thread(flip_links), make_below("l");
    if (kind == "directories") flipper = std::thread(flip_directories), make_below("flip");
    if (kind == "memory") flipper = std::thread(flip_memory, "mine"), act_on_memory();
    if (kind == "existing") flipper = std::thread(flip_memory, "mine"), act_on_existing();
    if (kind == "bring") bring();
    if (kind == "shuffle") shuffle();
    if (kind == "make_only") make_below("flip");
    if (kind == "flip_only") {
        flipper = std::thread(flip_directories);
        for (int i = 0; i < g_rounds * 10; ++i) ::close(::open("a/file", O_RDONLY));
    }
    g_over = true;
    if (flipper.joinable()) flipper.join();
    puts("tried");
}
