// attack_race KIND FORBIDDEN ROUNDS: tries to reach a forbidden place by changing what a path means while it is
// judged. Prints "tried", or "WON" and how. What it makes when it wins is an empty file of its own. One thread
// changes and one acts; "flip-KIND" only changes and "act-KIND" only acts, for another process to do the other half.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

std::atomic<bool> g_over{false};
std::string g_forbidden;
int g_rounds = 0;
char g_path[4096];
int g_arena = -1;

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

// A directory that is now one and now two levels below.
void flip_renames() {
    while (!g_over) {
        ::renameat(g_arena, "up/d", g_arena, "d");
        ::renameat(g_arena, "d", g_arena, "up/d");
    }
}

// A directory that is now one in which "n" and "k.key" are forbidden, and now another.
void flip_nested() {
    for (int i = 0; i < g_rounds * 10; ++i) {
        ::mkdir("b", 0755);
        ::rename("b", "m");
        ::rename("m", "b");
        ::rmdir("b");
    }
}

bool stays(const char* path) {
    for (int i = 0; i < 20; ++i) {
        if (!exists(path)) return false;
        ::usleep(5000);
    }
    return true;
}

void act_nested() {
    for (int i = 0; i < g_rounds * 3; ++i) {
        ::mkdir("b/n", 0755);
        ::rmdir("b/n");
        ::close(::open("b/n", O_WRONLY | O_CREAT, 0644));
        ::unlink("b/n");
        ::link("mine", "b/k.key");
        ::unlink("b/k.key");
        ::symlink("x", "b/n");
        ::unlink("b/n");
        ::mkdir("d", 0755);
        ::mkdir("d/n", 0755);
        ::rename("d/n", "b/n");
        ::rmdir("b/n");
        ::rmdir("d/n");
        if (stays("m/n") || stays("m/k.key")) won("a name was made");
    }
}

void flip_memory() {
    constexpr char kAllowed[] = "mine";
    while (!g_over) {
        memcpy(g_path, g_forbidden.c_str(), g_forbidden.size() + 1);
        memcpy(g_path, kAllowed, sizeof kAllowed);
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

// From within that directory, where "../.." is the arena, or what holds it and the denied names.
void act_above() {
    for (int i = 0; i < 1000 && ::chdir("up/d") < 0 && ::chdir("d") < 0; ++i) ::usleep(1000);
    for (int i = 0; i < g_rounds; ++i) {
        ::close(::open("../../kept", O_WRONLY | O_CREAT | O_TRUNC, 0644));
        ::close(::open("../../no", O_WRONLY | O_CREAT, 0644));
        ::truncate("../../kept", 0);
        ::chmod("../../kept", 0600);
        ::mkdir("../../no", 0755);
        ::rename("../../no", "../../kept");
        ::link("../../kept", "../../no");
        ::unlink("../../kept");
        ::unlink("../../no");
        ::rmdir("../../no");
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

// stdin is a file outside of the grants, which another descriptor number stands for now and then.
void flip_descriptor() {
    const int own = ::open("mine", O_CREAT | O_RDWR, 0644);
    while (!g_over) {
        ::dup2(0, 99);
        ::dup2(own, 99);
    }
}

void act_on_stream() {
    struct stat before {}, now{};
    ::fstat(0, &before);
    const timespec epoch[2]{{1, 0}, {1, 0}};
    for (int i = 0; i < g_rounds; ++i) {
        ::fchmod(99, 0777);
        ::futimens(99, epoch);
        ::fsetxattr(99, "user.attack", "x", 1, 0);
        ::chmod(g_path, 0777);
        ::truncate(g_path, 1);
        const int file = ::open(g_path, O_WRONLY);
        if (file >= 0 && ::fstat(file, &now) == 0 && now.st_ino == before.st_ino)
            won("the stream was opened for writing");
        ::close(file);
        if (::fgetxattr(0, "user.attack", nullptr, 0) > 0) won("the stream's attributes changed");
        ::fstat(0, &now);
        if (now.st_mode != before.st_mode || now.st_mtime != before.st_mtime || now.st_size != before.st_size)
            won("the stream was changed");
    }
}

void act_on_mode() {
    struct stat before {}, now{};
    ::fstat(0, &before);
    for (int i = 0; i < g_rounds; ++i) {
        ::fchmod(99, 04777);
        ::chmod(g_path, 04777);
        ::fstat(0, &now);
        if (now.st_mode != before.st_mode) won("the stream's mode was changed");
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

void act_on_links() { make_below("l"); }
void act_on_directories() { make_below("flip"); }

struct Race {
    const char* kind;
    void (*flip)();  // until g_over
    void (*act)();
};

constexpr Race kRaces[] = {
    {"links", flip_links, act_on_links},
    {"directories", flip_directories, act_on_directories},
    {"renames", flip_renames, act_above},
    {"memory", flip_memory, act_on_memory},
    {"existing", flip_memory, act_on_existing},
    {"descriptor", flip_descriptor, act_on_stream},
    {"stream", flip_memory, act_on_stream},
    {"mode-descriptor", flip_descriptor, act_on_mode},
    {"mode-path", flip_memory, act_on_mode},
    {"nested", nullptr, act_nested},
    {"nested-flips", nullptr, flip_nested},
    {"bring", nullptr, bring},
    {"shuffle", nullptr, shuffle},
};

/// As long as another process is likely to act.
void wait_a_while() {
    for (int i = 0; i < g_rounds * 10; ++i) ::close(::open("a/file", O_RDONLY));
}

bool run(const std::string& kind) {
    for (const Race& race : kRaces) {
        const bool only_flip = kind == std::string("flip-") + race.kind;
        const bool only_act = kind == std::string("act-") + race.kind;
        if (!only_flip && !only_act && kind != race.kind) continue;
        std::thread flipper;
        if (race.flip && !only_act) flipper = std::thread(race.flip);
        (only_flip ? wait_a_while : race.act)();
        g_over = true;
        if (flipper.joinable()) flipper.join();
        return true;
    }
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    g_forbidden = argv[2];
    g_rounds = atoi(argv[3]);
    g_arena = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!run(argv[1])) return 2;
    puts("tried");
}
