// attack_tracer PATH: a tracee asks for getppid, and its tracer makes that call an open(2) for writing,
// mkdir(2) and io_uring_setup(2) at the entry stop, after the filter ran or before.
#include <fcntl.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void exchange(const char* path, long number, long second, long third) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::ptrace(PTRACE_TRACEME, 0, 0, 0);
        ::raise(SIGSTOP);
        ::_exit(::syscall(SYS_getppid, path, second, third) < 0 ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    for (int stops = 0; stops < 100 && WIFSTOPPED(status); ++stops) {
        user_regs_struct regs{};
        ::ptrace(PTRACE_GETREGS, child, 0, &regs);
        if (regs.orig_rax == SYS_getppid) {
            regs.orig_rax = static_cast<unsigned long long>(number);
            ::ptrace(PTRACE_SETREGS, child, 0, &regs);
        } else if (regs.orig_rax == static_cast<unsigned long long>(number)) {
            printf(
                "%ld: %s\n", number,
                static_cast<long>(regs.rax) == -38 || static_cast<long>(regs.rax) < 0 ? "refused" : "made");
        }
        ::ptrace(PTRACE_SYSCALL, child, 0, 0);
        ::waitpid(child, &status, 0);
    }
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    exchange(argv[1], SYS_open, O_CREAT | O_WRONLY, 0644);
    exchange(argv[1], SYS_mkdir, 0755, 0);
    exchange(argv[1], SYS_creat, 0644, 0);
    exchange(argv[1], SYS_unlink, 0, 0);
}
