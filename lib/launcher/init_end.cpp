#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "launcher/init_process.hpp"
#include "launcher/plain_command.hpp"

// How a command of an init ends: by signals that the host asks for, by itself, or with its host.

namespace sandpipe::launcher {

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

}  // namespace sandpipe::launcher
