// Holds a write lease on a file until its stdin ends: whoever opens or executes the file waits (fcntl(2)).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
    ::signal(SIGIO, SIG_IGN);
    const int fd = argc > 1 ? ::open(argv[1], O_RDONLY) : -1;
    const bool held = ::fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
    std::puts(held ? "held" : "refused");
    std::fflush(stdout);
    char byte;
    return ::read(0, &byte, 1) < 0;
}
