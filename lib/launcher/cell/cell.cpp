#include "launcher/cell/cell.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "launcher/cell/cell_setup.hpp"
#include "launcher/cell/id_maps.hpp"
#include "launcher/cell/init.hpp"
#include "launcher/cell/namespaces.hpp"
#include "launcher/command/plain_command.hpp"
#include "launcher/kernel/features.hpp"
#include "launcher/loop/event_loop.hpp"
#include "launcher/loop/request_socket.hpp"
#include "launcher/supervisor/socket_registry.hpp"
#include "launcher/view/protection.hpp"
#include "sys/descriptors.hpp"
#include "sys/kernel.hpp"
#include "wire/packet_socket.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kKeptIdle = 4;

/// Ends this process when its parent does. The parent is single-threaded, so "parent thread" means the
/// process.
bool die_with(pid_t parent) {
    // A parent outside our pid namespace shows as 0; its end then shows on the socket that both share.
    return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && (::getppid() == parent || ::getppid() == 0);
}

/// An init as its cell sees it.
struct InitSeat {
    pid_t pid = -1;
    unique_fd socket;
    std::int64_t number = 0;    // another one for each
    std::uint64_t command = 0;  // the one it runs; 0: none
    bool ready = false;         // its set-up is done
    bool stale = false;         // its view lacks protection that was renewed since
};

class Cell {
  public:
    Cell(wire::SessionPlan plan, CellNamespaces namespaces, unique_fd socket, rlimit open_files)
        : plan_(std::move(plan)),
          namespaces_(std::move(namespaces)),
          socket_(std::move(socket)),
          open_files_(open_files) {}

    int run();

  private:
    Outcome set_up();
    Outcome add_init(InitSeat*& added);
    void on_socket();
    void on_init(InitSeat& seat);
    void on_children();
    void start(wire::Packet packet);
    [[nodiscard]] int give(const InitSeat& seat, const wire::Packet& packet);
    void discard(std::uint64_t command);
    void remove(pid_t pid);
    InitSeat* idle_seat();
    Outcome renew_protection();
    Outcome seat_for(InitSeat*& seat);
    void announce(const wire::Packet& first_word);

    wire::SessionPlan plan_;
    CellNamespaces namespaces_;
    RequestSocket socket_;
    unique_fd child_signals_;
    rlimit open_files_;
    Confinement confinement_;
    Protection protection_;
    EventLoop loop_;
    std::unordered_map<pid_t, std::unique_ptr<InitSeat>> seats_;
    std::int64_t next_number_ = 1;
    bool announced_ = false;
    bool over_ = false;
};

Outcome Cell::set_up() {
    if (Outcome failure = set_up_cell(plan_, namespaces_, confinement_)) return failure;
    if (Outcome failure = protection_.prepare(plan_, confinement_.masks)) return failure;
    int error = loop_.open();
    if (error == 0) error = open_child_signals(child_signals_);
    if (error == 0) error = loop_.add(child_signals_.get(), [this] { on_children(); });
    if (error == 0) error = loop_.add(socket_.get(), [this] { on_socket(); });
    if (error < 0) return fail(Stage::resources, -error, "cell");
    InitSeat* first = nullptr;
    return add_init(first);
}

int Cell::run() {
    if (const Outcome failure = set_up()) {
        (void)wire::send_packet(socket_.get(), wire::encode(*failure));  // nobody left to tell is fine
        return 1;
    }
    while (!over_)
        if (loop_.run_once(-1) < 0) return 1;
    return 0;  // with this process every init ends, and with an init everything in its pid namespace
}

Outcome Cell::add_init(InitSeat*& added) {
    sys::SocketPair pair;
    if (const int error = sys::make_socket_pair(pair); error < 0)
        return fail(Stage::resources, -error, "init");
    const pid_t cell = ::getpid();
    const pid_t pid = fork_into(sys::kCloneNewPid | sys::kCloneNewNs);
    if (pid < 0) return fail(pid == -EAGAIN ? Stage::resources : Stage::namespaces, -pid, "pid namespace");
    if (pid == 0) {
        pair.first.reset();
        const bool bound = die_with(cell);
        ::_exit(bound ? run_init(plan_, confinement_, std::move(pair.second), open_files_, next_number_) : 1);
    }
    auto seat = std::make_unique<InitSeat>();
    seat->pid = pid;
    seat->number = next_number_++;
    seat->socket = std::move(pair.first);
    added = seat.get();
    seats_.emplace(pid, std::move(seat));
    const int error = loop_.add(added->socket.get(), [this, init = added] { on_init(*init); });
    if (error == 0) return {};
    remove(pid);  // nobody would hear of it
    return fail(Stage::resources, -error, "init");
}

void Cell::on_socket() {
    wire::Packet packet;
    const RequestSocket::Got got = socket_.receive(packet);
    over_ = over_ || got == RequestSocket::Got::over;
    if (got != RequestSocket::Got::request) return;
    wire::DiscardCommand discarded;
    if (wire::type_of(packet.bytes) == wire::MessageType::start_command)
        start(std::move(packet));
    else if (wire::decode(packet.bytes, discarded))
        discard(discarded.id);
    else
        over_ = true;
}

InitSeat* Cell::idle_seat() {
    const auto free = [](const InitSeat& seat) { return seat.command == 0 && !seat.stale; };
    for (const auto& [pid, seat] : seats_)
        if (free(*seat) && seat->ready) return seat.get();
    // One that is still being set up takes the command as soon as it can.
    for (const auto& [pid, seat] : seats_)
        if (free(*seat)) return seat.get();
    return nullptr;
}

/// An init cannot be given new mounts: those that idle are replaced, the others go after their command.
Outcome Cell::renew_protection() {
    const Protection::Renewal renewal = protection_.renew();
    if (!renewal.renewed) return renewal.failure;
    std::vector<pid_t> idle;
    for (const auto& [pid, seat] : seats_) {
        seat->stale = true;
        if (seat->command == 0) idle.push_back(pid);
    }
    for (const pid_t pid : idle) remove(pid);
    return renewal.failure;
}

Outcome Cell::seat_for(InitSeat*& seat) {
    if (Outcome failure = renew_protection()) return failure;
    seat = idle_seat();
    return seat ? Outcome{} : add_init(seat);
}

void Cell::start(wire::Packet packet) {
    wire::StartCommand command;
    if (!is_start(packet, command)) return refuse_request(packet, EPROTO);
    InitSeat* seat = nullptr;
    int error = -EPIPE;
    // An init that has died, of which the event may still wait behind this one, takes nothing: another does.
    for (std::size_t tries = seats_.size() + 1; error == -EPIPE && tries > 0; --tries) {
        if (seat) remove(seat->pid);
        if (const Outcome failure = seat_for(seat)) {
            (void)wire::send_packet(packet.fds[0].get(), wire::encode(*failure));  // else its host sees the close
            return;
        }
        error = give(*seat, packet);
    }
    if (error < 0)
        refuse_request(packet, -error);  // the seat is as free as it was
    else
        seat->command = command.id;
}

int Cell::give(const InitSeat& seat, const wire::Packet& packet) {
    std::vector<int> fds;
    for (const unique_fd& fd : packet.fds) fds.push_back(fd.get());
    return wire::send_packet(seat.socket.get(), packet.bytes, fds);
}

void Cell::on_init(InitSeat& seat) {
    wire::Packet packet;
    const int got = wire::receive_packet(seat.socket.get(), packet);
    if (got == -EAGAIN) return;
    if (got <= 0 || packet.bytes.empty()) return remove(seat.pid);
    if (!announced_) announce(packet);
    if (wire::type_of(packet.bytes) != wire::MessageType::idle) return;
    seat.command = seat.ready ? 0 : seat.command;
    seat.ready = true;
    std::size_t idle = 0;
    for (const auto& [pid, other] : seats_) idle += other->command == 0 ? 1 : 0;
    if (seat.command == 0 && (seat.stale || idle > kKeptIdle)) remove(seat.pid);
}

/// The first init's first word decides whether the session exists.
void Cell::announce(const wire::Packet& first_word) {
    announced_ = true;
    const bool ready = wire::type_of(first_word.bytes) == wire::MessageType::idle;
    const std::string answer = ready ? wire::encode(wire::CellReady{confinement_.facts}) : first_word.bytes;
    std::vector<int> listeners;
    for (const unique_fd& listener : confinement_.listeners) listeners.push_back(listener.get());
    if (wire::send_packet(socket_.get(), answer, listeners) < 0 || !ready) over_ = true;
    // From now on they are the host's alone: when it closes them, nobody listens any more.
    confinement_.listeners.clear();
}

void Cell::discard(std::uint64_t command) {
    for (const auto& [pid, seat] : seats_) {
        if (seat->command != command) continue;
        ::kill(pid, SIGKILL);
        return;
    }
}

void Cell::remove(pid_t pid) {
    const auto found = seats_.find(pid);
    if (found == seats_.end()) return;
    loop_.remove(found->second->socket.get());
    SocketRegistry::forget(confinement_.session_file.get(), found->second->number);
    seats_.erase(found);
    ::kill(pid, SIGKILL);  // unreaped: on_children has not seen it
}

void Cell::on_children() {
    drain_child_signals(child_signals_.get());
    siginfo_t info{};
    while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        remove(info.si_pid);
        ::waitid(P_PID, static_cast<id_t>(info.si_pid), nullptr, WEXITED | WNOHANG);
        info.si_pid = 0;
    }
    if (!announced_ && seats_.empty()) {
        (void)wire::send_packet(socket_.get(),
                                wire::encode(wire::Failure{Stage::namespaces, ECHILD, "init"}));
        over_ = true;
    }
}

[[noreturn]] void run_cell(wire::SessionPlan plan, CellNamespaces namespaces, unique_fd socket, unique_fd go,
                           pid_t launcher, rlimit open_files) {
    const int error = sys::close_all_but({socket.get(), go.get()}, may_use_close_range());
    ::prctl(PR_SET_NAME, "sandpipe-cell");
    char word = 0;
    // Until the maps are written this process has no user to be.
    const bool mapped = ::read(go.get(), &word, 1) == 1;
    go.reset();
    const bool bound = error == 0 && mapped && die_with(launcher);
    ::_exit(bound ? Cell(std::move(plan), std::move(namespaces), std::move(socket), open_files).run() : 1);
}

}  // namespace

Outcome fork_cell(wire::SessionPlan plan, int socket, rlimit open_files) {
    sys::SocketPair go;
    unique_fd own_socket;
    int error = sys::make_socket_pair(go);
    if (error == 0) error = sys::duplicate(socket, own_socket);
    if (error < 0) return fail(Stage::resources, -error, "cell");
    (void)features();  // once here, not in each cell
    CellNamespaces namespaces;
    const pid_t launcher = ::getpid();
    const pid_t cell = fork_into_cell(plan, namespaces);
    if (cell < 0)
        return fail(cell == -EAGAIN ? Stage::resources : Stage::namespaces, -cell, "user namespace");
    if (cell == 0) {
        go.first.reset();
        run_cell(std::move(plan), std::move(namespaces), std::move(own_socket), std::move(go.second), launcher,
                 open_files);
    }
    go.second.reset();
    if (namespaces.user)
        if (Outcome failure = write_id_maps(cell)) return failure;  // the cell sees the socket close and ends
    // Without SIGPIPE, should it have been killed meanwhile: every other command ends with this process.
    return ::send(go.first.get(), "", 1, MSG_NOSIGNAL) == 1 ? Outcome{} : fail(Stage::namespaces, errno, "cell");
}

}  // namespace sandpipe::launcher
