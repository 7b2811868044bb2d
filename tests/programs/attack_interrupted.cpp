// attack_interrupted COUNT: makes, links, moves and removes files in the cwd while a thread interrupts it with a signal
// whose handler restarts calls, and prints how many were made to restart at least, and each errno that no file system
// would give.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

static std::atomic<bool> over{false};
static std::atomic<long> interruptions{0};
static pid_t target;

static void on_signal(int) { ++interruptions; }

static void* interrupt(void*) {
    const timespec pause{0, 15'000};
    // At most a minute, whatever happens to the other one.
    for (long i = 0; i < 1'000'000 && !over; ++i) {
        ::syscall(SYS_tgkill, ::getpid(), target, SIGURG);
        ::nanosleep(&pause, nullptr);
    }
    return nullptr;
}

static void expect(const char* act, int result) {
    if (result >= 0) return;
    ::printf("%s %s\n", act, ::strerrorname_np(errno));
    ::exit(1);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    target = static_cast<pid_t>(::syscall(SYS_gettid));
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGURG, &action, nullptr);
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, interrupt, nullptr) != 0) return 3;
    for (int i = 0; i < ::atoi(argv[1]); ++i) {
        const int file = ::open("new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        expect("create", file);
        if (::write(file, "x", 1) != 1) return 4;
        ::close(file);
        struct stat made {};
        expect("stat", ::stat("new", &made));
        if (made.st_size != 1) return 5;
        expect("mkdir", ::mkdir("directory", 0755));
        expect("link", ::link("new", "second"));
        expect("rename", ::rename("second", "directory/moved"));
        expect("symlink", ::symlink("new", "directory/link"));
        for (const char* name : {"directory/link", "directory/moved", "new"}) expect("unlink", ::unlink(name));
        expect("rmdir", ::rmdir("directory"));
        errno = 0;
        if (::open("/etc/forbidden", O_WRONLY | O_CREAT, 0644) >= 0 || errno != EROFS) expect("denied", -1);
    }
    over = true;
    ::pthread_join(thread, nullptr);
    ::printf("done, interrupted %s\n", interruptions > 100 ? "often" : "seldom");
}
