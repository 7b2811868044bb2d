// attack_without WHAT PROGRAM ARG...: runs a program that one kernel facility refuses, as a container or an
// older kernel would.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

struct Facility {
    const char* name;
    unsigned call;
    unsigned error;
    unsigned argument_mask;  // of the first argument; 0: always
};

constexpr Facility kFacilities[] = {
    {"none", 4095, ENOSYS, 0},           {"userns", SYS_clone, EPERM, CLONE_NEWUSER},
    {"seccomp", SYS_seccomp, EINVAL, 0}, {"landlock", 444, ENOSYS, 0},
    {"open_tree", 428, ENOSYS, 0},       {"move_mount", 429, EPERM, 0},
    {"mount_setattr", 442, ENOSYS, 0},   {"fsmount", 432, EPERM, 0},
    {"prctl", SYS_prctl, EINVAL, 0},     {"capset", SYS_capset, EPERM, 0},
};

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    for (const Facility& facility : kFacilities) {
        if (facility.name != std::string(argv[1])) continue;
        sock_filter program[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, facility.call, 0, 3),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
            BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, facility.argument_mask, 0,
                     static_cast<unsigned char>(facility.argument_mask ? 1 : 0)),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | facility.error),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const sock_fprog filter{sizeof program / sizeof *program, program};
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return 3;
        if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0) return 3;
        ::execv(argv[2], argv + 2);
    }
    return 4;
}
