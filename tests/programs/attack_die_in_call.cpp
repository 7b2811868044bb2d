// attack_die_in_call PATH ROUNDS: children that are killed while they make refused calls.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    for (int i = 0; i < atoi(argv[2]); ++i) {
        const pid_t child = ::fork();
        while (child == 0) ::open(argv[1], O_CREAT | O_WRONLY, 0644);
        for (int spin = 0; spin < i % 50; ++spin) ::getppid();
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    puts("done");
}
