#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "launcher/cell/init_process.hpp"
#include "launcher/command/plain_command.hpp"

// How a command of an init ends: by signals that the host asks for, by itself, or with its host.

namespace sandpipe::launcher {
namespace {

constexpr int kMostAtOnce = 256;

}  // namespace

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

/// Some of them: a command that makes orphans faster than they can be reaped must not keep all else from being heard,
/// such as that it has to end.
void Init::reap() {
    more_ended_ = false;
    for (int i = 0; i < kMostAtOnce; ++i) {
        siginfo_t next{};
        const int found = ::waitid(P_ALL, 0, &next, WEXITED | WNOHANG | WNOWAIT);
        if (found < 0 && errno == ECHILD) return settle();
        if (found < 0 || next.si_pid == 0) return;
        // What /proc says of the leader is gone once it is reaped.
        if (child_ && next.si_pid == child_->pid()) take_last_words();
        reap(next.si_pid);
    }
    more_ended_ = true;
}

void Init::reap(pid_t pid) {
    int status = 0;
    rusage usage{};
    if (::wait4(pid, &status, WNOHANG, &usage) != pid) return;
    if (child_ && pid == child_->pid()) return leader_ended(status, usage);
    if (supervisor_.on_child(pid)) return;
    if (ending_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++ended_.survivors_ended;
}

/// That it is confined, and then that its program runs, or does not.
void Init::take_last_words() {
    while (!started_ && !failed_ && on_channel()) continue;
}

void Init::leader_ended(int wait_status, const rusage& usage) {
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

}  // namespace sandpipe::launcher
