#include "launcher/launcher.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "launcher/cell/cell.hpp"
#include "launcher/command/processes.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kRoundMs = 20;
constexpr std::int64_t kRoundNs = kRoundMs * 1'000'000;

}  // namespace

rlimit raise_open_files() {
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const rlimit raised{before.rlim_max, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &raised);
    return before;
}

bool Launcher::set_up() {
    settings_.open_files = raise_open_files();
    settings_.parent = ::getpid();
    // What a command leaves behind becomes ours, so that it can be found, ended and reaped.
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return false;
    if (loop_.open() < 0 || open_child_signals(child_signals_) < 0) return false;
    if (loop_.add(child_signals_.get(), [this] { on_children(); }) < 0) return false;
    if (loop_.add(control_.get(), [this] { on_control(); }) < 0) return false;
    return loop_.add(host_.get(), [this] { host_gone_ = true; }) == 0;
}

int Launcher::run() {
    const bool ready = set_up();
    while (ready && !host_gone_) {
        if (loop_.run_once(is_quiet() ? -1 : kRoundMs) < 0) break;
        follow_stops();
        reap_orphans();
        graveyard_.clear();
        start_waiting();
    }
    // Needed no more, while a look at what is to be ended needs two.
    control_ = RequestSocket({});
    host_.reset();
    end_all_descendants();
    return ready ? 0 : 1;
}

/// All stops that this round has brought, by the same looks.
void Launcher::follow_stops() {
    std::vector<PlainCommand*> open;
    std::copy_if(stopping_.begin(), stopping_.end(), std::back_inserter(open),
                 [](const PlainCommand* command) { return command->wants_look(); });
    while (!open.empty()) {
        std::optional<ProcessTable> processes;
        const bool seen = look_at_processes(leaders_, processes) == 0;
        std::erase_if(open, [&](PlainCommand* command) {
            if (seen) return command->follow(*processes);
            command->follow_unseen();
            return true;
        });
    }
}

void Launcher::on_control() {
    wire::Packet packet;
    const RequestSocket::Got got = control_.receive(packet);
    host_gone_ = host_gone_ || got == RequestSocket::Got::over;
    if (got != RequestSocket::Got::request) return;
    switch (wire::type_of(packet.bytes)) {
        case wire::MessageType::start_command:
            return start_command(std::move(packet));
        case wire::MessageType::make_cell:
            return make_cell(std::move(packet));
        default:
            host_gone_ = true;  // Not a host of this build: no request of it can be trusted.
    }
}

void Launcher::start_command(wire::Packet packet) {
    wire::StartCommand command;
    unique_fd record;
    std::vector<unique_fd> stdio;
    if (!take_start(packet, command, record, stdio)) return refuse_request(packet, EPROTO);
    PlainCommand::Owner owner;
    owner.stopping = [this](PlainCommand& stopping) { stopping_.insert(&stopping); };
    owner.done = [this](PlainCommand& ended) { bury(ended); };
    auto made = std::make_unique<PlainCommand>(loop_, std::move(command), std::move(record), std::move(stdio),
                                               settings_, std::move(owner));
    PlainCommand* starting = made.get();
    commands_.emplace(starting, std::move(made));
    waiting_.push_back(starting);
    start_waiting();
}

void Launcher::start_waiting() {
    std::vector<PlainCommand*> still;
    for (PlainCommand* command : std::exchange(waiting_, {})) {
        if (!command->start())
            still.push_back(command);
        else if (commands_.contains(command))
            leaders_.insert(command->leader());
    }
    waiting_ = std::move(still);
}

void Launcher::bury(PlainCommand& ended) {
    leaders_.erase(ended.leader());
    stopping_.erase(&ended);
    const auto found = commands_.find(&ended);
    graveyard_.push_back(std::move(found->second));
    commands_.erase(found);
}

void Launcher::make_cell(wire::Packet packet) {
    wire::MakeCell message;
    if (packet.fds.size() != 1 || !wire::decode(packet.bytes, message)) return refuse_request(packet, EPROTO);
    const unique_fd socket = std::move(packet.fds.front());
    if (const Outcome failure = fork_cell(std::move(message.plan), socket.get(), settings_.open_files))
        (void)wire::send_packet(socket.get(), wire::encode(*failure));  // a host that is gone needs no answer
}

void Launcher::on_children() {
    drain_child_signals(child_signals_.get());
    orphans_due_ = true;
}

/// Reaps what commands left behind. The kernel goes through all children for that, so it is asked once in a round.
/// Leaders are waited for by their pidfd; where one stands first in the queue of the dead, the rest waits for it.
void Launcher::reap_orphans() {
    if (!orphans_due_ || monotonic_ns() < next_reap_ns_) return;
    next_reap_ns_ = monotonic_ns() + kRoundNs;
    siginfo_t info{};
    while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        if (leaders_.contains(info.si_pid)) return;
        ::waitid(P_PID, static_cast<id_t>(info.si_pid), nullptr, WEXITED | WNOHANG);
        info.si_pid = 0;
    }
    orphans_due_ = false;
}

bool Launcher::is_quiet() const noexcept { return waiting_.empty() && stopping_.empty() && !orphans_due_; }

}  // namespace sandpipe::launcher
