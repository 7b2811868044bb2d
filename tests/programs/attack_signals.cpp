// attack_signals COUNT: makes and removes that many files by O_EXCL, of two names in turn, while SIGURG and
// SIGPROF come as often as they can. Prints how many calls answered something that no kernel would say.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

static std::atomic<bool> g_over{false};
static std::atomic<long> g_signals{0};

static void on_signal(int) { g_signals.fetch_add(1, std::memory_order_relaxed); }

static int wrong(const char* what, int round) {
    fprintf(stderr, "round %d: %s: %s\n", round, what, strerror(errno));
    return 1;
}

static int make_and_remove(int count) {
    int failed = 0;
    for (int i = 0; i < count; ++i) {
        const std::string name = "storm" + std::to_string(i % 2);
        const int file = ::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (file < 0) failed += wrong("open", i);
        if (file >= 0 && ::close(file) < 0) failed += wrong("close", i);
        if (::unlink(name.c_str()) < 0) failed += wrong("unlink", i);
        if (::mkdir("storm-d", 0700) < 0 || ::rmdir("storm-d") < 0) failed += wrong("mkdir", i);
    }
    return failed;
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;  // as the runtimes that send them have it
    sigaction(SIGURG, &action, nullptr);
    sigaction(SIGPROF, &action, nullptr);
    itimerval often{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &often, nullptr);
    std::thread storm([main = pthread_self()] {
        while (!g_over) {
            pthread_kill(main, SIGURG);
            usleep(50);
        }
    });
    const int failed = make_and_remove(atoi(argv[1]));
    g_over = true;
    storm.join();
    printf("%d wrong\n", failed);
    return g_signals > atoi(argv[1]) / 100 ? 0 : 3;
}
