#include "stdio_plan.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "sys/descriptors.hpp"
#include "sys/held_signal.hpp"

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

/// An epoll, eventfd and the like, which have no type of a file. Asio's own get the numbers of standard streams that were
/// closed when they were made, and who has them has a hand on the host's event loop.
bool is_anonymous(const struct stat& status) { return (status.st_mode & S_IFMT) == 0; }

/// A pipe of the host's for its command: O_NONBLOCK belongs to the open file description, which both would share, so the
/// command gets one of its own, which blocks. What cannot be opened again, as a socket, is passed as it is.
int lend(int fd, unique_fd& copy) {
    const int flags = ::fcntl(fd, F_GETFL);
    struct stat status {};
    if (flags < 0 || ::fstat(fd, &status) < 0) return -errno;
    if (is_anonymous(status)) return -EBADF;
    if (!(flags & O_NONBLOCK) || !S_ISFIFO(status.st_mode)) return sys::duplicate(fd, copy);
    const std::string again = "/proc/self/fd/" + std::to_string(fd);
    // Without O_NONBLOCK the opening itself might wait for the pipe's other end.
    if (sys::open_file(again.c_str(), (flags & O_ACCMODE) | O_NONBLOCK, 0, copy) < 0) return sys::duplicate(fd, copy);
    return ::fcntl(copy.get(), F_SETFL, flags & ~O_NONBLOCK) < 0 ? -errno : 0;
}

class Planner {
  public:
    Planner(const InvocationFields& fields, StdioFiles* files) : fields_(fields), files_(files) {}

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

    bool take_file(std::size_t stream, unique_fd& fd) {
        fd = files_->take(stream);
        return true;
    }

    bool open_null(int flags, Stage stage, unique_fd& fd) {
        return check(sys::open_file("/dev/null", flags, 0, fd), stage, "/dev/null");
    }

    bool pipe_for(unique_fd& child, unique_fd& host, bool host_reads) {
        sys::Pipe pipe;
        if (!check(sys::make_pipe(pipe), Stage::resources, "pipe")) return false;
        host = std::move(host_reads ? pipe.read_end : pipe.write_end);
        child = std::move(host_reads ? pipe.write_end : pipe.read_end);
        return check(sys::set_nonblocking(host.get()), Stage::resources, "pipe");
    }

    bool input(const Input::None&, unique_fd& child) { return open_null(O_RDONLY, Stage::input, child); }
    bool input(const Input::Bytes&, unique_fd& child) { return pipe_for(child, plan_.input, false); }
    bool input(const Input::Stream&, unique_fd& child) { return pipe_for(child, plan_.input, false); }
    bool input(const Input::File&, unique_fd& child) { return take_file(0, child); }
    bool input(const Input::Descriptor& source, unique_fd& child) {
        return check(lend(source.fd->get(), child), Stage::input, "descriptor");
    }

    bool output(const Output::Capture&, std::size_t index, unique_fd& child) {
        return pipe_for(child, plan_.output[index], true);
    }
    bool output(const Output::Discard&, std::size_t, unique_fd& child) {
        return open_null(O_WRONLY, Stage::output, child);
    }
    bool output(const Output::Inherit&, std::size_t index, unique_fd& child) {
        const int own = index == 0 ? STDOUT_FILENO : STDERR_FILENO;
        return check(lend(own, child), Stage::output,
                     index == 0 ? "the host's stdout" : "the host's stderr");
    }
    bool output(const Output::File&, std::size_t index, unique_fd& child) { return take_file(index + 1, child); }
    bool output(const Output::Descriptor& sink, std::size_t, unique_fd& child) {
        return check(lend(sink.fd->get(), child), Stage::output, "descriptor");
    }

    /// Merged, stderr goes where stdout goes.
    bool error_output(const unique_fd& out, unique_fd& child) {
        if (fields_.order == Order::merged)
            return check(sys::duplicate(out.get(), child), Stage::resources, "descriptor");
        return std::visit([&](const auto& sink) { return output(sink, 1, child); }, fields_.err.sink());
    }

    const InvocationFields& fields_;
    StdioFiles* const files_;
    StdioPlan plan_;
};

}  // namespace

StdioPlan plan_stdio(const InvocationFields& fields, StdioFiles* files) {
    if (!files || !files->failure()) return Planner(fields, files).run();
    StdioPlan failed;
    failed.failure = files->failure();
    return failed;
}

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
