// attack_storm COUNT|endless|orphans SECONDS: daemons by double fork, each of which execs a sleep; "endless" ones
// also fork a successor and go, at most 20,000 in all; "orphans" end at once, and others come for 20 seconds faster than
// they can be reaped.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave_sleeper(const char* seconds) {
    const pid_t middle = ::fork();
    if (middle > 0) ::waitpid(middle, nullptr, 0);
    if (middle != 0) return;
    ::setsid();
    if (::fork() == 0) {
        ::close(1);
        ::close(2);
        ::execlp("sleep", "sleep", seconds, nullptr);
    }
    ::_exit(0);
}

static void make_orphans() {
    ::signal(SIGTERM, SIG_IGN);
    ::alarm(20);
    for (;;) {
        const pid_t middle = ::vfork();
        if (middle > 0) ::waitpid(middle, nullptr, 0);
        if (middle != 0) continue;
        ::vfork();
        ::_exit(0);
    }
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    if (strcmp(argv[1], "orphans") == 0) {
        for (int i = 0; i < 12; ++i)
            if (::fork() == 0) make_orphans();
        make_orphans();
    }
    if (strcmp(argv[1], "endless") != 0) {
        for (int i = 0; i < atoi(argv[1]); ++i) leave_sleeper(argv[2]);
        return 0;
    }
    ::setsid();
    for (int i = 0; i < 20000; ++i)
        if (const pid_t next = ::fork(); next > 0) {
            if (i == 0) ::pause();
            ::_exit(0);
        }
    return 0;
}
