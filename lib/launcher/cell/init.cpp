#include "launcher/cell/init.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "launcher/cell/init_process.hpp"
#include "launcher/command/plain_command.hpp"
#include "launcher/kernel/features.hpp"
#include "launcher/supervisor/refused_start.hpp"
#include "launcher/supervisor/socket_holder.hpp"
#include "launcher/supervisor/stdio_sockets.hpp"
#include "sys/descriptors.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kRoundMs = 20;

}  // namespace

Outcome Init::set_up() {
    if (Outcome failure = set_up_init(plan_, confinement_)) return failure;
    int error = loop_.open();
    if (error == 0) error = open_child_signals(child_signals_);
    if (error == 0) error = loop_.add(child_signals_.get(), [this] { on_children(); });
    if (error == 0) error = loop_.add(socket_.get(), [this] { on_socket(); });
    if (error < 0) return fail(Stage::resources, -error, "init");
    return {};
}

int Init::run() {
    const Outcome failure = set_up();
    const std::string word = failure ? wire::encode(*failure) : wire::encode_idle();
    if (wire::send_packet(socket_.get(), word) < 0 || failure) return 1;
    while (!over_) {
        const bool waits = supervisor_.waits_for_others();
        if (loop_.run_once(more_ended_ ? 0 : waits ? kRoundMs : -1) < 0) return 1;
        if (more_ended_) reap();
        if (waits) look_for_signals();
    }
    return 0;
}

/// However many events there are between: each look reads a file for each connect that waits.
void Init::look_for_signals() {
    if (monotonic_ns() < next_look_ns_) return;
    next_look_ns_ = monotonic_ns() + kRoundMs * 1'000'000;
    supervisor_.look_for_signals();
}

void Init::unwatch(int fd) {
    if (fd >= 0) loop_.remove(fd);
}

bool Init::report(const wire::Denied& denied) {
    const bool can_be_folded = denied.id != 0;
    if (can_be_folded && record_.is_crowded()) return false;
    record_.send(wire::encode(denied));
    return static_cast<bool>(record_);
}

void Init::on_socket() {
    wire::Packet packet;
    const RequestSocket::Got got = socket_.receive(packet);
    if (got == RequestSocket::Got::nothing) return;
    if (got == RequestSocket::Got::refused) return say_idle();
    if (got == RequestSocket::Got::over || child_)
        over_ = true;  // the cell is gone, or breaks the protocol: with pid 1 everything here ends
    else
        start(std::move(packet));
}

void Init::start(wire::Packet packet) {
    wire::StartCommand command;
    unique_fd record;
    std::vector<unique_fd> stdio;
    if (!take_start(packet, command, record, stdio)) {
        over_ = true;
        return;
    }
    record_.open(std::move(record));
    // Nobody would see that it is connected to somewhere else.
    if (!confinement_.facts.denials && plan_.own_network && have_network_socket(stdio))
        return refuse_start({Stage::seccomp, EACCES, "a socket as stdin, stdout or stderr"});
    if (const Outcome failure = confine_streams(stdio)) return refuse_start(*failure);
    if (command.cwd.empty()) command.cwd = plan_.workspace;
    cwd_ = command.cwd;
    started_ = failed_ = stopping_ = exited_ = ending_ = settled_ = false;
    child_ = std::make_unique<Child>(std::move(command), std::move(stdio), settings_);
    int error = child_->start();
    if (error == 0) error = loop_.add(child_->channel(), [this] { on_channel(); });
    if (error == 0) error = record_.watch([this] { on_record(); });
    if (error == 0) return;
    record_.send(wire::encode(wire::Failure{Stage::resources, -error, "clone"}));
    over_ = true;
}

Outcome Init::confine_streams(std::vector<unique_fd>& stdio) {
    if (!plan_.filesystem_enforced) return {};
    constexpr const char* kNames[] = {"stdin", "stdout", "stderr"};
    ForeignFiles foreign;
    for (std::size_t i = 0; i < stdio.size(); ++i)
        if (const int error = confinement_.host.confine(stdio[i], foreign); error < 0)
            return fail(i == 0 ? Stage::input : Stage::output, -error, kNames[i]);
    supervisor_.expect_foreign(std::move(foreign));
    return {};
}

/// Before there is a process.
void Init::refuse_start(const wire::Failure& failure) {
    record_.send(wire::encode(failure));
    record_.close();
    say_idle();
}

void Init::say_idle() {
    if (wire::send_packet(socket_.get(), wire::encode_idle()) < 0) over_ = true;
}

/// False: there was nothing to take.
bool Init::on_channel() {
    const int channel = child_->channel();
    const Child::Progress progress = child_->advance();
    if (progress == Child::Progress::waiting) return false;
    if (progress == Child::Progress::confined) {
        watch_listener();
        return true;
    }
    unwatch(channel);
    if (progress == Child::Progress::failed) {
        failed_ = true;
        report_refused_start();
        record_.send(wire::encode(child_->failure()));
    } else if (!std::exchange(started_, true)) {
        wire::Started message;
        message.monotonic_ns = child_->started_ns();
        message.pid = child_->pid();
        record_.send(wire::encode(message));
    }
    return true;
}

void Init::report_refused_start() {
    std::optional<wire::Denied> denied = refused_start(plan_.rules, child_->failure(), cwd_);
    if (!denied) return;
    denied->pid = child_->pid();
    denied->program = child_->name();
    (void)report(*denied);  // else its host is gone
}

void Init::watch_listener() {
    supervisor_.attach(child_->take_listener());
    if (supervisor_.listener() < 0 || ending_) return;
    loop_.add_direct(supervisor_.listener(), [this] { on_notification(); });
}

void Init::on_notification() {
    // The first notified call that is no execve shows that execve succeeded: the host hears of that before
    // any denial.
    if (!started_ && !failed_) on_channel();
    supervisor_.on_notification(started_);
}

void Init::on_record() {
    record_.flush();
    if (record_) take_from_record();
    if (child_ && settled_ && !record_.has_unsent()) become_idle();
}

void Init::take_from_record() {
    wire::Packet packet;
    const int got = wire::receive_packet(record_.get(), packet);
    if (got == -EAGAIN) return;
    wire::Signal signal;
    wire::RelayedSignal relayed;
    wire::Acknowledge acknowledged;
    if (got > 0 && wire::decode(packet.bytes, signal)) return signal_all(signal.signal);
    if (got > 0 && wire::decode(packet.bytes, relayed)) return relay_signal(relayed);
    if (got > 0 && wire::decode(packet.bytes, acknowledged))
        return supervisor_.on_acknowledged(acknowledged.id);
    wire::FindSocketHolder wanted;
    if (got > 0 && wire::decode(packet.bytes, wanted)) return record_.send(wire::encode(find_socket_holder(wanted)));
    // End of file, or not a host of ours: nobody waits for this command any more.
    record_.close();
    end_everything();
}

int run_init(const wire::SessionPlan& plan, const Confinement& confinement, unique_fd socket,
             rlimit open_files, std::int64_t number) {
    ::prctl(PR_SET_NAME, "sandpipe-init");
    // The cell's own descriptors and those of its other inits came along with the fork.
    if (const int error = sys::close_all_but({socket.get(), confinement.inner_ruleset.get(),
                                              confinement.outer_ruleset.get(), confinement.session_file.get(),
                                              confinement.host.descriptor()},
                                             may_use_close_range());
        error < 0) {
        (void)wire::send_packet(socket.get(), wire::encode(wire::Failure{Stage::resources, -error, "descriptors"}));
        return 1;
    }
    return Init(plan, confinement, std::move(socket), open_files, number).run();
}

}  // namespace sandpipe::launcher
