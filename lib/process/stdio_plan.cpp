#include "stdio_plan.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "process/session.hpp"
#include "sys/descriptors.hpp"
#include "sys/held_signal.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::detail {
namespace {

bool is_way_out(int fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0) return false;  // no socket
    sockaddr_storage peer{};
    size = sizeof peer;
    const bool connected = ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
    return !connected || (type != SOCK_STREAM && type != SOCK_SEQPACKET);
}

/// -ENXIO for a FIFO that nobody has open for writing: the command would take that for an empty file. A writer that
/// waits for a reader counts. tee(2) sees it without taking a byte.
int look_for_writer(int fd) {
    struct stat facts {};
    if (::fstat(fd, &facts) < 0) return -errno;
    sys::Pipe copy;
    if (!S_ISFIFO(facts.st_mode)) return 0;
    if (const int error = sys::make_pipe(copy); error < 0) return error;
    return ::tee(fd, copy.write_end.get(), 1, SPLICE_F_NONBLOCK) == 0 ? -ENXIO : 0;
}

int open_without_links(const std::string& path, int flags, unique_fd& fd) {
    open_how how{};
    how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
    how.mode = flags & O_CREAT ? 0666 : 0;
    how.resolve = RESOLVE_NO_SYMLINKS;
    const long made = sys::raw_syscall(SYS_openat2, AT_FDCWD, sys::word(path.c_str()), sys::word(&how), sizeof how);
    if (made < 0) return static_cast<int>(made);
    fd.reset(static_cast<int>(made));
    return sys::lift(fd);
}

class Planner {
  public:
    explicit Planner(const InvocationFields& fields) : fields_(fields) {}

    StdioPlan run() {
        unique_fd child[3];
        const bool ok =
            std::visit([&](const auto& source) { return input(source, child[0]); }, fields_.input.source()) &&
            std::visit([&](const auto& sink) { return output(sink, 0, child[1]); }, fields_.out.sink()) &&
            error_output(child[1], child[2]);
        if (ok)
            for (unique_fd& fd : child) plan_.child.push_back(std::move(fd));
        return std::move(plan_);
    }

  private:
    bool check(int error, Stage stage, const std::string& what) {
        if (error == -EMFILE || error == -ENFILE) stage = Stage::resources;
        if (error < 0) plan_.failure = wire::Failure{stage, -error, what};
        return error >= 0;
    }

    /// As open(2), but not through links by which a command of the session's could lead the host.
    int open_place(const std::string& path, int flags, unique_fd& fd) {
        if (!fields_.session) return sys::open_file(path.c_str(), flags, 0666, fd);
        std::error_code unknown;
        const std::string absolute = std::filesystem::absolute(path, unknown).string();
        if (unknown) return -unknown.value();
        const StreamPlace place = fields_.session->stream_place(absolute, (flags & O_ACCMODE) != O_RDONLY);
        if (!place.allowed) return -ELOOP;
        return place.without_links ? open_without_links(place.path, flags, fd)
                                   : sys::open_file(place.path.c_str(), flags, 0666, fd);
    }

    bool open(const std::string& path, int flags, Stage stage, unique_fd& fd) {
        // O_NONBLOCK for the open alone: FIFOs must not block the host, and the command gets a blocking
        // descriptor.
        int error = open_place(path, flags | O_NONBLOCK | O_NOCTTY, fd);
        if (error >= 0) error = ::fcntl(fd.get(), F_SETFL, flags & O_APPEND) < 0 ? -errno : 0;
        return check(error, stage, path);
    }

    bool pipe_for(unique_fd& child, unique_fd& host, bool host_reads) {
        sys::Pipe pipe;
        if (!check(sys::make_pipe(pipe), Stage::resources, "pipe")) return false;
        host = std::move(host_reads ? pipe.read_end : pipe.write_end);
        child = std::move(host_reads ? pipe.write_end : pipe.read_end);
        return check(sys::set_nonblocking(host.get()), Stage::resources, "pipe");
    }

    bool input(const Input::None&, unique_fd& child) {
        return open("/dev/null", O_RDONLY, Stage::input, child);
    }
    bool input(const Input::Bytes&, unique_fd& child) { return pipe_for(child, plan_.input, false); }
    bool input(const Input::Stream&, unique_fd& child) { return pipe_for(child, plan_.input, false); }
    bool input(const Input::File& file, unique_fd& child) {
        return open(file.path, O_RDONLY, Stage::input, child) &&
               check(look_for_writer(child.get()), Stage::input, file.path);
    }
    bool input(const Input::Descriptor& source, unique_fd& child) {
        return check(sys::duplicate(source.fd->get(), child), Stage::input, "descriptor");
    }

    bool output(const Output::Capture&, std::size_t index, unique_fd& child) {
        return pipe_for(child, plan_.output[index], true);
    }
    bool output(const Output::Discard&, std::size_t, unique_fd& child) {
        return open("/dev/null", O_WRONLY, Stage::output, child);
    }
    bool output(const Output::Inherit&, std::size_t index, unique_fd& child) {
        const int own = index == 0 ? STDOUT_FILENO : STDERR_FILENO;
        return check(sys::duplicate(own, child), Stage::output,
                     index == 0 ? "the host's stdout" : "the host's stderr");
    }
    bool output(const Output::File& file, std::size_t, unique_fd& child) {
        const int mode = file.mode == FileMode::append ? O_APPEND : O_TRUNC;
        return open(file.path, O_WRONLY | O_CREAT | mode, Stage::output, child);
    }
    bool output(const Output::Descriptor& sink, std::size_t, unique_fd& child) {
        return check(sys::duplicate(sink.fd->get(), child), Stage::output, "descriptor");
    }

    /// Merged, stderr goes where stdout goes.
    bool error_output(const unique_fd& out, unique_fd& child) {
        if (fields_.order == Order::merged)
            return check(sys::duplicate(out.get(), child), Stage::resources, "descriptor");
        return std::visit([&](const auto& sink) { return output(sink, 1, child); }, fields_.err.sink());
    }

    const InvocationFields& fields_;
    StdioPlan plan_;
};

}  // namespace

StdioPlan plan_stdio(const InvocationFields& fields) { return Planner(fields).run(); }

std::optional<wire::Failure> find_way_out(const StdioPlan& plan) {
    constexpr std::array kNames{"stdin", "stdout", "stderr"};
    for (std::size_t i = 0; i < plan.child.size(); ++i)
        if (is_way_out(plan.child[i].get()))
            return wire::Failure{i == 0 ? Stage::input : Stage::output, EACCES, kNames[i]};
    return {};
}

long write_quietly(int fd, const char* data, std::size_t size) {
    sys::HeldSignal broken_pipe(SIGPIPE);
    ssize_t written;
    do written = ::write(fd, data, size);
    while (written < 0 && errno == EINTR);
    const long result = written < 0 ? -errno : written;
    if (result == -EPIPE) broken_pipe.take();
    return result;
}

}  // namespace sandpipe::detail
