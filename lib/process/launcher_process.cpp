#include "launcher_process.hpp"

#include <sandpipe/error.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "process/helper_end.hpp"
#include "sys/close_range.hpp"
#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"
#include "sys/signals_blocked.hpp"

// clone(2) of libc by its other name, which ThreadSanitizer does not intercept: it takes every clone for a fork, and
// would mark the memory that is shared with the child as the child's.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept;

extern "C" const char sandpipe_launcher_image[];
extern "C" const char sandpipe_launcher_image_end[];

namespace sandpipe::detail {
namespace {

using sys::raw_syscall;
using sys::word;

constexpr int kControlFd = 3;  // where the helper expects them
constexpr int kHostFd = 4;
constexpr int kImageFd = 5;

/// What the two children below read; they share our memory and make raw system calls only.
struct Script {
    int control = -1;
    int host = -1;
    int image = -1;
    const char* without = nullptr;  // what the helper is not to use; null: nothing
    bool close_by_call = true;
    int error = 0;
    int pid = -1;
    int pidfd = -1;  // a number in the table of descriptors that the intermediate shares with us
    char* helper_stack = nullptr;
};

constexpr const char* kShortageRemedy = " (see ulimit -n and ulimit -u)";

constexpr std::size_t kStackBytes = 16 * 1024;

/// Becomes the helper. Its table of descriptors is a copy, so the host's own are not touched.
[[gnu::no_sanitize("address", "undefined", "thread")]] int become_helper(void* argument) {
    auto& script = *static_cast<Script*>(argument);
    // Sources are lifted above the targets first: any of them may sit on a target.
    const long control = raw_syscall(SYS_fcntl, script.control, F_DUPFD, kImageFd + 1);
    const long host = raw_syscall(SYS_fcntl, script.host, F_DUPFD, kImageFd + 1);
    const long image = raw_syscall(SYS_fcntl, script.image, F_DUPFD, kImageFd + 1);
    long error = std::min({control, host, image});
    if (error == -EINVAL) error = -EMFILE;  // fcntl(2): so F_DUPFD says that its start is above RLIMIT_NOFILE
    if (error >= 0) error = raw_syscall(SYS_dup3, control, kControlFd, 0);
    if (error >= 0) error = raw_syscall(SYS_dup3, host, kHostFd, 0);
    if (error >= 0) error = raw_syscall(SYS_dup3, image, kImageFd, O_CLOEXEC);
    // Whatever the host had open, CLOEXEC or not, goes no further.
    if (error >= 0) error = sys::close_range(kImageFd + 1, ~0U, script.close_by_call);
    const char* argv[] = {"sandpipe-launcher", script.without ? "without" : nullptr, script.without, nullptr};
    const char* envp[] = {nullptr};
    if (error >= 0)
        error = raw_syscall(SYS_execveat, kImageFd, word(""), word(argv), word(envp), AT_EMPTY_PATH);
    script.error = static_cast<int>(-error);
    for (;;) raw_syscall(SYS_exit_group, 127);
}

/// Makes the helper and ends: the helper then belongs to pid 1, or to a subreaper.
[[gnu::no_sanitize("address", "undefined", "thread")]] int become_intermediate(void* argument) {
    auto& script = *static_cast<Script*>(argument);
    const int pid = ::__clone(become_helper, script.helper_stack + kStackBytes,
                            CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, argument, &script.pidfd);
    if (pid < 0 && script.error == 0) script.error = errno;
    script.pid = pid;
    for (;;) raw_syscall(SYS_exit_group, 0);
}

/// 0, or what stopped it. `pidfd` and `helper_pid` are the helper's.
int run_image(Script script, unique_fd& pidfd, int& helper_pid) {
    std::vector<char> stacks(2 * kStackBytes);
    script.helper_stack = stacks.data() + kStackBytes;
    const sys::SignalsBlocked blocked;
    // No exit signal: a "clone child" (wait(2), __WCLONE), which the host's own waits pass over. It shares
    // our descriptors, so that the helper's pidfd appears here; the helper itself gets a copy.
    const int saved = errno;
    const int pid = ::__clone(become_intermediate, stacks.data() + kStackBytes,
                            CLONE_VM | CLONE_VFORK | CLONE_FILES, &script);
    const int clone_error = errno;
    errno = saved;
    if (pid < 0) return clone_error;
    while (::waitpid(pid, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
    pidfd.reset(script.pidfd);
    helper_pid = script.pid;
    if (script.error != 0) return script.error;
    return -sys::lift(pidfd);
}

/// A descriptor, and by which file it is known again: its number may be another's by now, where a host has closed all that
/// it found open, as daemons do.
class Image {
  public:
    /// 0, or what stopped it.
    int make() {
        if (is_ours()) return 0;
        static_cast<void>(memfd_.release());  // not ours to close
        unique_fd made;
        int error = sys::make_sealed_memfd(
            "sandpipe-launcher", sandpipe_launcher_image,
            static_cast<std::size_t>(sandpipe_launcher_image_end - sandpipe_launcher_image), true, made);
        if (error == 0 && ::fstat(made.get(), &file_) < 0) error = -errno;
        if (error == 0) memfd_ = std::move(made);
        return -error;
    }

    [[nodiscard]] int get() const noexcept { return memfd_.get(); }

  private:
    [[nodiscard]] bool is_ours() const noexcept {
        struct stat now {};
        return memfd_ && ::fstat(memfd_.get(), &now) == 0 && now.st_dev == file_.st_dev && now.st_ino == file_.st_ino;
    }

    unique_fd memfd_;
    struct stat file_ {};
};

/// The embedded image in a memfd; made once, because it never changes, and never closed: a thread that outlives main
/// may still start a launcher.
int embedded_image(int& error) {
    static std::mutex making;
    static Image& image = *new Image;
    const std::lock_guard held(making);
    error = image.make();
    return image.get();
}

struct Attempt {
    std::string what;
    int error = 0;
};

class Start {
  public:
    explicit Start(const wire::FeatureLimits& limits) : limits_(limits), without_(wire::to_words(limits)) {
        sys::SocketPair pair;
        int error = sys::make_socket_pair(pair);
        if (error == 0) error = sys::open_pidfd(::getpid(), host_);
        if (error < 0)
            throw Shortage(-error, std::string("cannot make the launcher's sockets: ") + std::strerror(-error) +
                                       kShortageRemedy);
        control_ = std::move(pair.first);
        helper_end_ = std::move(pair.second);
    }

    bool embedded() {
        int error = limits_.memfd_exec ? 0 : EACCES;
        const int image = error == 0 ? embedded_image(error) : -1;
        if (error == 0) error = run(image);
        return note("the embedded image in a memfd", error);
    }

    bool file(const std::filesystem::path& path) {
        unique_fd image;
        int error = -sys::open_file(path.c_str(), O_RDONLY, 0, image);
        if (error == 0) error = run(image.get());
        return note(path.string(), error);
    }

    LauncherProcess take() {
        process_.control = std::move(control_);
        return std::move(process_);
    }

    [[noreturn]] void give_up() const {
        std::string text = "the launcher cannot be started:";
        for (const Attempt& attempt : attempts_)
            text += " " + attempt.what + ": " + std::strerror(attempt.error) + ";";
        const int first = attempts_.empty() ? 0 : attempts_.front().error;
        if (sys::is_shortage(first)) throw Shortage(first, text + kShortageRemedy);
        if (first == EFBIG) throw Shortage(first, text + " (see ulimit -f)");
        throw Error(Errc::sandbox_dependency_missing,
                    text +
                        " allow memfds to be executed (sysctl vm.memfd_noexec=0), or install the launcher and"
                        " name it in RuntimeOptions::launcher_path");
    }

  private:
    int run(int image) {
        Script script;
        script.control = helper_end_.get();
        script.host = host_.get();
        script.image = image;
        script.without = without_.empty() ? nullptr : without_.c_str();
        script.close_by_call = limits_.close_range;
        const int error = run_image(script, process_.pidfd, process_.pid);
        if (error != 0) bury();
        return error;
    }
    /// What could not become the helper is on its way out, and a child of a host that adopts orphans.
    void bury() {
        constexpr int kMostMilliseconds = 1000;
        std::vector<unique_fd> failed;
        if (process_.pidfd) failed.push_back(std::move(process_.pidfd));
        for (const unique_fd& pidfd : failed) {
            pollfd ended{pidfd.get(), POLLIN, 0};
            ::poll(&ended, 1, kMostMilliseconds);  // if it takes longer, another helper's end reaps it
        }
        const EndingHelpers ending(std::move(failed));
    }

    bool note(std::string what, int error) {
        if (error != 0) attempts_.push_back({std::move(what), error});
        return error == 0;
    }

    const wire::FeatureLimits limits_;
    const std::string without_;
    unique_fd control_;
    unique_fd helper_end_;
    unique_fd host_;
    LauncherProcess process_;
    std::vector<Attempt> attempts_;
};

}  // namespace

LauncherProcess start_launcher(const std::filesystem::path& chosen, const wire::FeatureLimits& limits) {
    Start start(limits);
    const bool started =
        chosen.empty() ? start.embedded() || start.file(SANDPIPE_INSTALLED_LAUNCHER) : start.file(chosen);
    if (!started) start.give_up();
    return start.take();
}

}  // namespace sandpipe::detail
