// attack_interrupted COUNT: makes, links, moves and removes files in the cwd while a thread interrupts it with a
// signal whose handler restarts calls. Prints what became of it: the first new file that could not be made by O_EXCL,
// whether it was interrupted often, and how many of the other calls answered what no file system would.
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
static long odd = 0;
static pid_t target;

static void on_signal(int) { ++interruptions; }

static void* interrupt(void*) {
    const timespec pause{0, 15'000};
    // At most some minutes, whatever happens to the other one.
    for (long i = 0; i < 3'000'000 && !over; ++i) {
        ::syscall(SYS_tgkill, ::getpid(), target, SIGURG);
        ::nanosleep(&pause, nullptr);
    }
    return nullptr;
}

static void count(int result) { odd += result < 0 ? 1 : 0; }

static int give_up(const char* what) {
    ::printf("%s: %s\n", what, ::strerrorname_np(errno));
    return 1;
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
        char name[32];
        ::snprintf(name, sizeof name, "new%d", i);
        const int file = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (file < 0) return give_up("create");
        struct stat made {};
        struct stat found {};
        if (::fstat(file, &made) < 0 || ::stat(name, &found) < 0) return give_up("stat");
        if (made.st_ino != found.st_ino) return give_up("another file");
        ::close(file);
        count(::mkdir("directory", 0755));
        count(::link(name, "second"));
        count(::rename("second", "directory/moved"));
        count(::symlink(name, "directory/link"));
        for (const char* gone : {"directory/link", "directory/moved", static_cast<const char*>(name)})
            count(::unlink(gone));
        count(::rmdir("directory"));
        errno = 0;
        if (::open("/etc/forbidden", O_WRONLY | O_CREAT, 0644) >= 0 || errno != EROFS) return give_up("denied");
    }
    over = true;
    ::pthread_join(thread, nullptr);
    ::printf("done, interrupted %s, odd %ld\n", interruptions > 100 ? "often" : "seldom", odd);
}
