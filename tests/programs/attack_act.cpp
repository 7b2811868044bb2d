// attack_act VERB ARG... [-- VERB ARG...]: does each act by one system call and prints "ok" or its errno.
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

using Args = std::vector<std::string>;

namespace {

int reopened(const char* path, int flags) {
    const int handle = ::open(path, O_PATH | O_CLOEXEC);
    if (handle < 0) return -1;
    return ::open(("/proc/self/fd/" + std::to_string(handle)).c_str(), flags);
}

int below(const char* directory, const char* name, int flags) {
    const int handle = ::open(directory, O_PATH | O_CLOEXEC);
    return handle < 0 ? -1 : ::openat(handle, name, flags, 0644);
}

int by_openat2(const char* path, unsigned long long flags) {
    open_how how{};
    how.flags = flags;
    how.mode = flags & O_CREAT ? 0644 : 0;
    return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

/// As a program built for a newer kernel does; `more` is what it asks for that this one may not know.
int by_longer_openat2(const char* path, unsigned long long flags, char more) {
    struct {
        open_how how;
        char rest[40];
    } how{};
    how.how.flags = flags;
    how.how.mode = flags & O_CREAT ? 0644 : 0;
    how.rest[39] = more;
    return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

int read_one(int fd) {
    char byte;
    return fd < 0 || ::read(fd, &byte, 1) < 0 ? -1 : 0;
}

int list(const char* path) { return ::opendir(path) ? 0 : -1; }

int execute(const char* path) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) < 0) return -1;
    if (const pid_t child = ::fork(); child == 0) {
        ::execl(path, path, nullptr);
        const int error = errno;
        ::_exit(::write(fds[1], &error, sizeof error) == sizeof error ? 0 : 1);
    }
    ::close(fds[1]);
    int error = 0;
    errno = ::read(fds[0], &error, sizeof error) > 0 ? error : 0;
    ::wait(nullptr);
    return error ? -1 : 0;
}

int act(const Args& a) {
    const std::string& verb = a[0];
    const char* p = a.size() > 1 ? a[1].c_str() : "";
    const char* q = a.size() > 2 ? a[2].c_str() : "";
    if (verb == "read") return read_one(::open(p, O_RDONLY));
    if (verb == "read_handle") return read_one(reopened(p, O_RDONLY));
    if (verb == "read_below") return read_one(below(p, q, O_RDONLY));
    if (verb == "list") return list(p);
    if (verb == "list_handle") return list(("/proc/self/fd/" + std::to_string(::open(p, O_PATH))).c_str());
    if (verb == "chdir") return ::chdir(p);
    if (verb == "exec") return execute(p);
    if (verb == "write") return ::open(p, O_WRONLY);
    if (verb == "readwrite") return ::open(p, O_RDWR);
    if (verb == "append") return ::open(p, O_WRONLY | O_APPEND);
    if (verb == "access3") return ::open(p, O_ACCMODE);
    if (verb == "cut") return ::open(p, O_RDONLY | O_TRUNC);
    if (verb == "overwrite") return ::open(p, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (verb == "create") return ::open(p, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (verb == "create_read") return ::open(p, O_RDONLY | O_CREAT, 0644);
    if (verb == "creat") return ::creat(p, 0644);
    if (verb == "openat2") return by_openat2(p, O_WRONLY);
    if (verb == "longer_openat2_create") return by_longer_openat2(p, O_WRONLY | O_CREAT, 0);
    if (verb == "unknown_openat2_create") return by_longer_openat2(p, O_WRONLY | O_CREAT, 1);
    if (verb == "openat2_create") return by_openat2(p, O_WRONLY | O_CREAT);
    if (verb == "write_handle") return reopened(p, O_WRONLY);
    if (verb == "write_below") return below(p, q, O_WRONLY);
    if (verb == "create_below") return below(p, q, O_WRONLY | O_CREAT);
    if (verb == "unnamed") return ::open(p, O_TMPFILE | O_WRONLY, 0600);
    if (verb == "mkdir") return ::mkdir(p, 0755);
    if (verb == "fifo") return ::mkfifo(p, 0644);
    if (verb == "node") return ::mknod(p, S_IFREG | 0644, 0);
    if (verb == "symlink") return ::symlink(p, q);
    if (verb == "link") return ::link(p, q);
    if (verb == "rename") return ::rename(p, q);
    if (verb == "exchange") return ::renameat2(AT_FDCWD, p, AT_FDCWD, q, RENAME_EXCHANGE);
    if (verb == "unlink") return ::unlink(p);
    if (verb == "rmdir") return ::rmdir(p);
    if (verb == "truncate") return ::truncate(p, 3);
    if (verb == "chmod") return ::chmod(p, 0750);
    if (verb == "chmod_handle") return ::fchmod(::open(p, O_PATH), 0750);
    if (verb == "chmod_fd") return ::fchmod(::open(p, O_RDONLY), 0750);
    if (verb == "chown") return ::chown(p, ::getuid(), ::getgid());
    if (verb == "chown_fd") return ::fchown(::open(p, O_RDONLY), ::getuid(), ::getgid());
    if (verb == "utimes") return ::utimensat(AT_FDCWD, p, nullptr, 0);
    if (verb == "utimes_fd") return ::futimens(::open(p, O_RDONLY), nullptr);
    if (verb == "setxattr") return ::setxattr(p, "user.attack", "x", 1, 0);
    if (verb == "setxattr_fd") return ::fsetxattr(::open(p, O_RDONLY), "user.attack2", "x", 1, 0);
    if (verb == "stat") {
        struct stat status {};
        return ::stat(p, &status);
    }
    errno = EDOTDOT;
    return -1;
}

}  // namespace

int main(int argc, char** argv) {
    std::string report;
    Args one;
    for (int i = 1; i <= argc; ++i) {
        if (i < argc && strcmp(argv[i], "--") != 0) {
            one.emplace_back(argv[i]);
            continue;
        }
        report += (act(one) >= 0 ? std::string("ok") : std::string(::strerrorname_np(errno))) + "\n";
        one.clear();
    }
    return ::write(1, report.data(), report.size()) == static_cast<ssize_t>(report.size()) ? 0 : 1;
}
