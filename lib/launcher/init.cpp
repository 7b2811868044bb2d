#include "init.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "launcher/child.hpp"
#include "launcher/event_loop.hpp"
#include "launcher/features.hpp"
#include "launcher/plain_command.hpp"
#include "launcher/record_socket.hpp"
#include "launcher/refused_start.hpp"
#include "launcher/request_socket.hpp"
#include "launcher/socket_holder.hpp"
#include "launcher/stdio_sockets.hpp"
#include "launcher/supervisor.hpp"
#include "sys/descriptors.hpp"
#include "wire/packet_socket.hpp"
#include "wire/relay_messages.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kRoundMs = 20;

class Init {
  public:
    Init(const wire::SessionPlan& plan, const Confinement& confinement, unique_fd socket, rlimit open_files,
         std::int64_t number)
        : plan_(plan),
          confinement_(confinement),
          socket_(std::move(socket)),
          confine_(confine_steps(confinement)),
          supervisor_(plan, [this](const wire::Denied& denied) { return report(denied); },
                      {confinement.facts.addfd_send, confinement.facts.wait_killable},
                      confinement.session_file.get(), number) {
        supervisor_.know(confinement.programs);
        settings_.open_files = open_files;
        settings_.own_session = true;
        settings_.confine = &confine_;
    }

    int run();

  private:
    Outcome set_up();
    void look_for_signals();
    void on_socket();
    void start(wire::Packet packet);
    Outcome confine_streams(std::vector<unique_fd>& stdio);
    void refuse_start(const wire::Failure& failure);
    bool on_channel();
    void watch_listener();
    void on_notification();
    void on_record();
    void take_from_record();
    void on_children();
    void reap();
    void signal_all(int signal);
    void relay_signal(const wire::RelayedSignal& relayed);
    void leader_ended(int wait_status, const rusage& usage);
    void end_everything();
    void settle();
    void become_idle();
    void say_idle();
    void report_refused_start();
    [[nodiscard]] bool report(const wire::Denied& denied);
    void unwatch(int fd);

    const wire::SessionPlan& plan_;
    const Confinement& confinement_;
    RequestSocket socket_;
    ConfineSteps confine_;
    ChildSettings settings_;
    EventLoop loop_;
    Supervisor supervisor_;
    unique_fd child_signals_;
    RecordSocket record_{loop_};
    std::unique_ptr<Child> child_;
    std::string cwd_;  // of the command
    wire::Ended ended_;
    bool started_ = false;   // the host knows that the program runs
    bool failed_ = false;    // the host knows that it does not
    bool stopping_ = false;  // a signal to the tree was asked for
    bool exited_ = false;    // the leader is reaped; `ended_` holds
    bool ending_ = false;    // everything was killed
    bool settled_ = false;   // nothing is left of it but what the host has not taken yet
    std::int64_t next_look_ns_ = 0;
    bool over_ = false;
};

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
        if (loop_.run_once(waits ? kRoundMs : -1) < 0) return 1;
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
    // Without a supervisor the command would wait for ever on its first notified call.
    if (loop_.add(supervisor_.listener(), [this] { on_notification(); }) < 0) over_ = true;
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

void Init::signal_all(int signal) {
    stopping_ = true;
    if (signal == SIGKILL) return end_everything();
    // From pid 1, -1 means everything else in this namespace (kill(2)).
    ::kill(-1, signal);
    // A stopped process acts on nothing but SIGKILL until it is continued.
    ::kill(-1, SIGCONT);
}

/// No stop: when the leader ends, whether by this or later, the others end as they always do.
void Init::relay_signal(const wire::RelayedSignal& relayed) {
    if (exited_ || ending_) return;
    ::kill(relayed.to_all ? -1 : child_->pid(), relayed.signal);
}

void Init::on_children() {
    drain_child_signals(child_signals_.get());
    reap();
}

void Init::reap() {
    int status = 0;
    rusage usage{};
    pid_t pid;
    while ((pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (child_ && pid == child_->pid())
            leader_ended(status, usage);
        else if (supervisor_.on_child(pid))
            continue;
        else if (ending_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            ++ended_.survivors_ended;
    }
    if (pid < 0 && errno == ECHILD) settle();
}

void Init::leader_ended(int wait_status, const rusage& usage) {
    // What it said last may be unread: that it is confined, and then that its program runs.
    while (!started_ && !failed_ && on_channel()) continue;
    exited_ = true;
    ended_ = ended_message(wait_status, usage);
    // While a stop is under way the others have their grace too: the host goes on to SIGKILL.
    if (!stopping_ || failed_) end_everything();
}

void Init::end_everything() {
    ending_ = true;
    // Who still waits for an answer is as good as dead, and a child that was made for it now would stay.
    unwatch(supervisor_.listener());
    ::kill(-1, SIGKILL);
    reap();
}

/// No process is left in this namespace but this one.
void Init::settle() {
    if (!child_ || !exited_ || std::exchange(settled_, true)) return;
    supervisor_.report_folded();
    if (!failed_) record_.send(wire::encode(ended_));
    unwatch(child_->channel());
    unwatch(supervisor_.listener());
    supervisor_.detach();
    if (!record_.has_unsent()) become_idle();
}

/// To close the record socket earlier would lose what waits there.
void Init::become_idle() {
    record_.close();
    child_.reset();
    if (supervisor_.is_spoiled())
        over_ = true;
    else
        say_idle();
}

}  // namespace

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
