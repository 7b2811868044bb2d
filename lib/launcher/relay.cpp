#include "launcher/relay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "launcher/command/child.hpp"
#include "launcher/relayed_signals.hpp"
#include "sys/descriptors.hpp"
#include "wire/packet_socket.hpp"
#include "wire/relay_messages.hpp"

namespace sandpipe::launcher {
namespace {

using wire::kStatusLost;
using wire::kStatusRefused;
constexpr int kSignalBase = 128;
constexpr std::int64_t kAnswerTimeNs = 30'000'000'000;
constexpr int kRetryMs = 10;

int complain(const std::string& text, int status) {
    const std::string line = "sandpipe: " + text + "\n";
    // Where nobody reads stderr any more, the status is all that can be said.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    return status;
}

/// What an executor closed must not become a number of ours.
bool fill_standard_descriptors() {
    for (int fd = 0; fd < 3; ++fd)
        if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) return false;
    return true;
}

/// The command's end of its pipes is the command's alone: whoever waits for their end must not wait for the relay.
/// Stderr stays, for what the relay itself has to say.
void let_go_of_stdio() {
    const unique_fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO})
        if (null) ::dup2(null.get(), fd);
}

/// All signals that are to be relayed, less those that the executor ignores, as nohup and background jobs do.
sigset_t signals_to_relay() {
    sigset_t mask;
    sigemptyset(&mask);
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        struct sigaction action {};
        const bool ours = relayed_as(signal) != RelayedAs::nothing && ::sigaction(signal, nullptr, &action) == 0;
        if (ours && action.sa_handler != SIG_IGN) sigaddset(&mask, signal);
    }
    return mask;
}

class Relay {
  public:
    Relay(char** words) : host_(std::atoi(words[0])), address_(words[1]), ticket_(words[2]) {}

    int run();

  private:
    [[nodiscard]] bool set_up();
    [[nodiscard]] int connect();
    [[nodiscard]] int try_connect(const sockaddr_un& address);
    [[nodiscard]] bool is_the_host() const;
    [[nodiscard]] int enter();
    [[nodiscard]] int serve();
    void on_signal();
    void send(int signal, bool to_all);
    [[nodiscard]] bool on_message(int& status);
    [[nodiscard]] int end_as(int wait_status);
    [[noreturn]] void end_by(int signal);

    const int host_;
    const std::string address_;
    const std::string ticket_;
    unique_fd socket_;
    unique_fd signals_;
    bool entered_ = false;
};

bool Relay::set_up() {
    // A program that is executed by a name in /proc would be called after its last part.
    ::prctl(PR_SET_NAME, "sandpipe-relay");
    if (!fill_standard_descriptors()) return false;
    const sigset_t mask = signals_to_relay();
    if (::sigprocmask(SIG_SETMASK, &mask, nullptr) < 0) return false;
    signals_.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    socket_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return signals_ && socket_;
}

/// 0 or -errno. Full is a queue that the host has not come to yet.
int Relay::connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (address_.size() >= sizeof address.sun_path) return -ENAMETOOLONG;
    std::memcpy(address.sun_path, address_.data(), address_.size());
    const std::int64_t until = monotonic_ns() + kAnswerTimeNs;
    for (;;) {
        const int error = try_connect(address);
        if (error != -EAGAIN || monotonic_ns() > until) return error;
        pollfd wait{signals_.get(), POLLIN, 0};
        if (::poll(&wait, 1, kRetryMs) > 0) on_signal();
    }
}

int Relay::try_connect(const sockaddr_un& address) {
    const int connected =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return connected < 0 ? -errno : 0;
}

/// Nothing is given to whoever else may be there: SO_PEERCRED of a connected socket is who listens (unix(7)).
bool Relay::is_the_host() const {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == host_ &&
           peer.uid == ::geteuid();
}

int Relay::enter() {
    constexpr std::array kStandard{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    const int error = wire::send_packet(socket_.get(), wire::encode(wire::Enter{ticket_}), kStandard);
    let_go_of_stdio();
    return error;
}

void Relay::send(int signal, bool to_all) {
    wire::RelayedSignal message;
    message.signal = signal;
    message.to_all = to_all;
    // A host that is gone shows as end of file.
    (void)wire::send_packet(socket_.get(), wire::encode(message));
}

void Relay::on_signal() {
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) return;
    const int signal = static_cast<int>(info.ssi_signo);
    switch (relayed_as(signal)) {
        case RelayedAs::itself:
            return send(signal, false);
        case RelayedAs::ending:
            // Nothing to end yet: as every program that is ended before it has begun.
            if (!entered_) end_by(signal);
            send(signal, true);
            return send(SIGCONT, true);
        case RelayedAs::stop:
            send(SIGSTOP, true);
            ::raise(SIGSTOP);
            return;
        case RelayedAs::resume:
            return send(SIGCONT, true);
        case RelayedAs::nothing:
            return;
    }
}

/// True: it is over, with this status.
bool Relay::on_message(int& status) {
    wire::Packet packet;
    const int got = wire::receive_packet(socket_.get(), packet);
    if (got == -EAGAIN) return false;
    wire::Entered entered;
    wire::CommandOver over;
    wire::EntryRefused refused;
    if (got > 0 && wire::decode(packet.bytes, entered)) {
        entered_ = true;
        return false;
    }
    if (got > 0 && wire::decode(packet.bytes, over))
        status = end_as(over.wait_status);
    else if (got > 0 && wire::decode(packet.bytes, refused))
        status = complain(refused.text, refused.exit_status);
    else
        status = complain("the process that holds this command's sandbox went away, and the command with it",
                          kStatusLost);
    return true;
}

int Relay::serve() {
    const std::int64_t until = monotonic_ns() + kAnswerTimeNs;
    for (int status = 0;;) {
        std::array<pollfd, 2> waits{pollfd{socket_.get(), POLLIN, 0}, pollfd{signals_.get(), POLLIN, 0}};
        const std::int64_t left_ms = (until - monotonic_ns()) / 1'000'000;
        if (!entered_ && left_ms <= 0)
            return complain("the process that holds this command's sandbox did not answer within 30 s",
                            kStatusRefused);
        ::poll(waits.data(), waits.size(), entered_ ? -1 : static_cast<int>(left_ms) + 1);
        if (waits[0].revents != 0 && on_message(status)) return status;
        if (waits[1].revents != 0) on_signal();
    }
}

int Relay::end_as(int wait_status) {
    if (!WIFSIGNALED(wait_status)) return WEXITSTATUS(wait_status);
    end_by(WTERMSIG(wait_status));
}

/// Without a core: it would be one of the relay.
void Relay::end_by(int signal) {
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_DUMPABLE, 0);
    struct sigaction fatal {};
    fatal.sa_handler = SIG_DFL;
    ::sigaction(signal, &fatal, nullptr);
    sigset_t mask;
    sigemptyset(&mask);
    ::kill(::getpid(), signal);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::_exit(kSignalBase + signal);
}

int Relay::run() {
    if (!set_up())
        return complain(std::string("no descriptors for the relay: ") + std::strerror(errno), kStatusRefused);
    if (const int error = connect(); error < 0)
        return complain("this ticket leads to no sandbox any more; its session is closed, or it has expired or been"
                        " used (" + address_ + ": " + std::strerror(-error) + ")",
                        kStatusRefused);
    if (!is_the_host())
        return complain("this ticket leads to another process than its sandbox's", kStatusRefused);
    if (const int error = enter(); error < 0)
        return complain(std::string("the ticket cannot be sent: ") + std::strerror(-error), kStatusRefused);
    return serve();
}

}  // namespace

bool is_relay(int argc, char** argv) noexcept {
    return argc > 1 && (argv[1] == wire::kEnterWord || argv[1] == wire::kRefuseWord);
}

int run_relay(int argc, char** argv) {
    constexpr int kEnterWords = 5;
    constexpr int kRefuseWords = 3;
    if (argv[1] == wire::kRefuseWord && argc == kRefuseWords) return complain(argv[2], kStatusRefused);
    if (argv[1] == wire::kEnterWord && argc == kEnterWords) return Relay(argv + 2).run();
    return complain("enter takes a host, an address and a ticket: it is called by what a sandbox has wrapped",
                    kStatusRefused);
}

}  // namespace sandpipe::launcher
