// attack_without WHAT PROGRAM ARG...: runs a program that one kernel facility refuses, as a container, a sandbox around
// it or an older kernel would.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

struct Facility {
    const char* name;
    unsigned call;
    unsigned error;
    unsigned argument = 0;
    unsigned bits = 0;   // refused if the argument has one of them
    unsigned value = 0;  // refused if it is that; both 0: always
};

constexpr unsigned kMfdExec = 0x10;
constexpr Facility kFacilities[] = {
    {"none", 4095, ENOSYS},
    {"userns", SYS_clone, EPERM, 0, CLONE_NEWUSER},
    {"netns", SYS_clone, EPERM, 0, CLONE_NEWNET},
    {"ipcns", SYS_clone, EPERM, 0, CLONE_NEWIPC},
    {"utsns", SYS_clone, EPERM, 0, CLONE_NEWUTS},
    {"pidns", SYS_clone, EPERM, 0, CLONE_NEWPID},
    {"mountns", SYS_clone, EPERM, 0, CLONE_NEWNS},
    {"seccomp", SYS_seccomp, EINVAL},
    {"landlock", 444, ENOSYS},
    {"open_tree", 428, ENOSYS},
    {"move_mount", 429, EPERM},
    {"mount_setattr", 442, ENOSYS},
    {"fsmount", 432, EPERM},
    {"prctl", SYS_prctl, EINVAL},
    {"capset", SYS_capset, EPERM},
    {"close_range", 436, ENOSYS},
    {"memfd_exec", SYS_memfd_create, EACCES, 1, kMfdExec},
    {"notifications", SYS_ioctl, EPERM, 1, 0, SECCOMP_IOCTL_NOTIF_RECV},
    {"process_vm_readv", SYS_process_vm_readv, ENOSYS},
    {"pidfd_getfd", 438, EPERM},
    {"listener", 4095, 0},  // not refused: another listener waits for it
};

/// The descriptor of a listener stays open in the program.
static int install(const Facility& facility) {
    const bool listens = facility.error == 0;
    const bool by_value = facility.value != 0;
    const auto always = static_cast<unsigned char>(facility.bits || by_value ? 1 : 0);
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, facility.call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 static_cast<unsigned>(offsetof(seccomp_data, args) + 8 * facility.argument)),
        BPF_JUMP(static_cast<unsigned short>(BPF_JMP | (by_value ? BPF_JEQ : BPF_JSET) | BPF_K),
                 by_value ? facility.value : facility.bits, 0, always),
        BPF_STMT(BPF_RET | BPF_K, listens ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | facility.error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{sizeof program / sizeof *program, program};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    const unsigned long flags = listens ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
    const long installed = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    return installed < 0 || (listens && ::fcntl(static_cast<int>(installed), F_SETFD, 0) < 0) ? -1 : 0;
}

static bool write_file(const char* path, const std::string& text) {
    const int file = ::open(path, O_WRONLY | O_CLOEXEC);
    return file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// As in a container: a part of /proc is covered, in namespaces of this process's own.
static bool mask_proc() {
    const std::string user = std::to_string(::geteuid());
    const std::string group = std::to_string(::getegid());
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) return false;
    return write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", user + " " + user + " 1\n") &&
           write_file("/proc/self/gid_map", group + " " + group + " 1\n") &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", "/proc/irq", "tmpfs", MS_RDONLY, nullptr) == 0;
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const std::string what = argv[1];
    if (what == "proc" && mask_proc()) ::execv(argv[2], argv + 2);
    for (const Facility& facility : kFacilities)
        if (facility.name == what && install(facility) == 0) ::execv(argv[2], argv + 2);
    ::perror(argv[1]);
    return 4;
}
