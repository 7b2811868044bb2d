#include "launcher/command/plain_command.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "launcher/command/command_mark.hpp"
#include "launcher/command/processes.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::int64_t kMostTryingNs = 500'000'000;
// From SIGKILL on. Less than StopPolicy::abandon_after is by default: the host hears how the leader ended.
constexpr std::int64_t kMostEndingNs = 1'500'000'000;
constexpr std::int64_t kLookNs = 20'000'000;
// One look is no snapshot: a process that is made meanwhile may be missed.
constexpr int kEmptyLooks = 2;

std::int64_t microseconds(const timeval& time) { return time.tv_sec * 1'000'000LL + time.tv_usec; }

ChildSettings marked(ChildSettings settings, rlimit mark) {
    settings.mark = mark;
    return settings;
}

int wait_status_of(const siginfo_t& info) {
    if (info.si_code == CLD_EXITED) return (info.si_status & 0xff) << 8;
    return info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
}

}  // namespace

bool is_start(const wire::Packet& packet, wire::StartCommand& command) {
    return packet.fds.size() == 4 && wire::decode(packet.bytes, command) && !command.programs.empty() &&
           !command.argv.empty();
}

bool take_start(wire::Packet& packet, wire::StartCommand& command, unique_fd& record,
                std::vector<unique_fd>& stdio) {
    if (!is_start(packet, command)) return false;
    record = std::move(packet.fds[0]);
    for (std::size_t i = 1; i < 4; ++i) stdio.push_back(std::move(packet.fds[i]));
    return true;
}

wire::Ended ended_message(int wait_status, const rusage& usage) {
    wire::Ended ended;
    ended.monotonic_ns = monotonic_ns();
    ended.wait_status = wait_status;
    ended.user_us = microseconds(usage.ru_utime);
    ended.system_us = microseconds(usage.ru_stime);
    ended.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    return ended;
}

PlainCommand::PlainCommand(EventLoop& loop, wire::StartCommand command, unique_fd record,
                           std::vector<unique_fd> stdio, const ChildSettings& settings, Owner owner)
    : loop_(loop),
      record_(std::move(record)),
      mark_(fresh_mark()),
      end_survivors_(command.end_survivors),
      child_(std::move(command), std::move(stdio), marked(settings, mark_)),
      owner_(std::move(owner)) {}

PlainCommand::~PlainCommand() {
    unwatch(child_.channel());
    unwatch(child_.pidfd());
    unwatch(record_.get());
}

bool PlainCommand::start() {
    const int error = child_.start();
    if (error == -EAGAIN && may_try_again()) return false;
    if (error < 0)
        fail_start({Stage::resources, -error, "clone"});
    else
        watch();
    return true;
}

bool PlainCommand::may_try_again() {
    const std::int64_t now = monotonic_ns();
    if (first_try_ns_ == 0) first_try_ns_ = now;
    pollfd record{record_.get(), POLLIN, 0};
    const bool called_off = ::poll(&record, 1, 0) != 0;
    return !called_off && now - first_try_ns_ < kMostTryingNs;
}

void PlainCommand::watch() {
    int error = loop_.add(child_.channel(), [this] { on_channel(); });
    if (error == 0) error = loop_.add(child_.pidfd(), [this] { on_exit(); });
    if (error == 0) error = loop_.add(record_.get(), [this] { on_record(); });
    if (error == 0) return;
    ::kill(child_.pid(), SIGKILL);
    ::waitid(P_PIDFD, static_cast<id_t>(child_.pidfd()), nullptr, WEXITED | WNOWAIT);
    fail_start({Stage::resources, -error, "epoll"});
}

void PlainCommand::unwatch(int fd) {
    if (fd >= 0) loop_.remove(fd);
}

void PlainCommand::send(const std::string& message) {
    // The few messages of a command always fit; what fails here is a host that is gone.
    if (record_ && wire::send_packet(record_.get(), message) < 0) let_go_of_record();
}

void PlainCommand::on_channel() {
    const int channel = child_.channel();
    const Child::Progress progress = child_.advance();
    if (progress == Child::Progress::waiting || progress == Child::Progress::confined) return;
    if (channel >= 0) loop_.remove(channel);
    if (progress == Child::Progress::failed) return fail_start(child_.failure());
    if (std::exchange(started_, true)) return;
    wire::Started message;
    message.monotonic_ns = child_.started_ns();
    message.pid = child_.pid();
    send(wire::encode(message));
}

void PlainCommand::fail_start(const wire::Failure& failure) { finish(wire::encode(failure)); }

void PlainCommand::on_exit() {
    siginfo_t info{};
    rusage usage{};
    // Left unreaped: the number of the group stays taken until `finish`.
    const long error = sys::raw_syscall(SYS_waitid, P_PIDFD, child_.pidfd(), sys::word(&info),
                                        WEXITED | WNOHANG | WNOWAIT, sys::word(&usage));
    if (error < 0 || info.si_pid == 0) return;
    if (!started_) on_channel();
    if (reported_) return;
    unwatch(child_.pidfd());
    exited_ = true;
    ended_ = ended_message(wait_status_of(info), usage);
    if (!stopping_ && !end_survivors_) return report_end();
    counts_survivors_ = !stopping_;
    begin_stop();
}

bool PlainCommand::wants_look() const noexcept {
    return !reported_ && (!unsent_.empty() || (exited_ && monotonic_ns() >= next_look_ns_));
}

bool PlainCommand::follow(const ProcessTable& processes) {
    if (reported_) return true;
    const CommandTree tree = processes.tree_of(child_.pid(), mark_.rlim_cur);
    if (std::exchange(counts_survivors_, false)) {
        ended_.survivors_ended = static_cast<std::uint32_t>(tree.size());
        if (!tree.empty()) signal_all(SIGKILL);
    }
    send_signals(tree);
    return !exited_ || settle(tree);
}

void PlainCommand::follow_unseen() {
    if (reported_) return;
    if (counts_survivors_ && killing_ns_ == 0) signal_all(SIGKILL);
    const std::int64_t now = monotonic_ns();
    next_look_ns_ = now + kLookNs;
    if (killing_ns_ == 0) return;
    signal_group(child_.pid(), SIGKILL);
    ended_.abandoned = exited_ && now - killing_ns_ > kMostEndingNs;
    if (ended_.abandoned) report_end();
}

/// After the look: some of those that left the group are known only as long as their parents live.
void PlainCommand::send_signals(const CommandTree& tree) {
    for (const int signal : std::exchange(unsent_, {})) {
        signal_group(child_.pid(), signal);
        for (const ProcessFacts& process : tree.escaped) signal_process(process, signal);
    }
}

/// The leader has ended. While a stop is under way the others have their grace too: the host goes on to SIGKILL.
bool PlainCommand::settle(const CommandTree& tree) {
    if (tree.empty()) {
        if (++empty_looks_ < kEmptyLooks) return false;
        report_end();
        return true;
    }
    empty_looks_ = 0;
    const std::int64_t now = monotonic_ns();
    next_look_ns_ = now + kLookNs;
    if (killing_ns_ == 0) return true;
    // What left the group between a look at the tree and the signal was missed by both.
    signal_all(SIGKILL);
    send_signals(tree);
    ended_.abandoned = now - killing_ns_ > kMostEndingNs;
    if (ended_.abandoned) report_end();
    return true;
}

void PlainCommand::report_end() { finish(wire::encode(ended_)); }

void PlainCommand::on_record() {
    wire::Packet packet;
    const int got = wire::receive_packet(record_.get(), packet);
    if (got == -EAGAIN) return;
    wire::Signal message;
    if (got > 0 && wire::decode(packet.bytes, message)) return signal_all(message.signal);
    // End of file, or not a host of ours: nobody waits for this command any more.
    let_go_of_record();
    signal_all(SIGKILL);
}

void PlainCommand::begin_stop() {
    if (!std::exchange(stopping_, true)) owner_.stopping(*this);
}

void PlainCommand::signal_all(int signal) {
    if (reported_) return;
    begin_stop();
    if (signal == SIGKILL && killing_ns_ == 0) killing_ns_ = monotonic_ns();
    unsent_.push_back(signal);
    // A stopped process acts on nothing but SIGKILL until it is continued.
    if (signal != SIGKILL) unsent_.push_back(SIGCONT);
}

void PlainCommand::let_go_of_record() {
    unwatch(record_.get());
    record_.reset();
}

/// Whoever hears of an end, or of a start that failed, finds no zombie of it.
void PlainCommand::finish(const std::string& last_word) {
    reported_ = true;
    ::waitid(P_PIDFD, static_cast<id_t>(child_.pidfd()), nullptr, WEXITED | WNOHANG);
    send(last_word);
    owner_.done(*this);
}

}  // namespace sandpipe::launcher
