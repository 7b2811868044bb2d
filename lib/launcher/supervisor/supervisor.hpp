#pragma once

#include <sandpipe/unique_fd.hpp>

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "launcher/paths/granted_programs.hpp"
#include "launcher/supervisor/interrupted_calls.hpp"
#include "launcher/supervisor/new_repositories.hpp"
#include "launcher/supervisor/session_lock.hpp"
#include "launcher/supervisor/supervised_act.hpp"
#include "launcher/supervisor/supervised_socket.hpp"
#include "launcher/supervisor/told_denials.hpp"
#include "launcher/supervisor/waiting_opens.hpp"
#include "wire/messages.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// What the kernel has for supervisors.
struct SupervisorSupport {
    bool addfd_send = false;     ///< SECCOMP_ADDFD_FLAG_SEND
    bool wait_killable = false;  ///< the commands' filter has SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
};

/// Answers the notified system calls of one command (seccomp_unotify(2)). Lives in the init, is single-threaded, and
/// waits for nobody whom the command or the host could stop: a refused call waits for the host's acknowledgement as a
/// pending id, and a connect or an open that may block in a child, while others are answered. What it does wait for
/// is the disk, for a file that it makes or opens, and the session's lock, which other supervisors hold as long.
class Supervisor {
  public:
    /// The commands of a session have a supervisor each, and one may move a directory in which another is
    /// about to make something. `session_file` is a file that the session's supervisors share (a memfd of
    /// the cell) for their SessionLock; it must stay open. -1: there is no other supervisor. `owner` is another
    /// number for each.
    Supervisor(const wire::SessionPlan& plan, ToldDenials::Report report, SupervisorSupport support,
               int session_file = -1, std::int64_t owner = 1)
        : plan_(plan),
          told_(std::move(report)),
          support_(support),
          lock_(session_file),
          repositories_(plan.rules),
          registry_(session_file, owner),
          sockets_(plan, registry_) {}

    /// What a new command's standard streams are, as far as it is not the session's.
    void expect_foreign(ForeignFiles files) { foreign_files_ = std::move(files); }
    /// Where only listed programs run. They must outlive it.
    void know(const GrantedPrograms& programs) { programs_ = &programs; }
    /// A new command's listener. What was pending for the last one is forgotten.
    void attach(unique_fd listener);
    /// The command and all it left are gone.
    void detach();
    /// To poll for reading; -1 while there is none.
    [[nodiscard]] int listener() const noexcept { return listener_.get(); }

    /// The listener is readable: takes one notification and answers it, or reports it and lets it wait. Until
    /// the command's program has `started`, its execve is left to the kernel: it is the start that fails
    /// then.
    void on_notification(bool started);
    /// A child of this process has been reaped: true if it worked for a call, which ends now.
    bool on_child(pid_t pid);
    /// To be called every few milliseconds while something `waits_for_others`: signals end what they would end.
    void look_for_signals();
    [[nodiscard]] bool waits_for_others() noexcept;
    /// Then this process must not serve another command (WaitingOpens).
    [[nodiscard]] bool is_spoiled() const noexcept { return opens_.is_spoiled(); }
    /// Tells the host of the refused calls that no Denial has stood for yet. To be called at the command's end.
    void report_folded() { told_.tell_folded(); }
    /// The host has noted the place of denial `id`: the call fails now. An unknown id is ignored.
    void on_acknowledged(std::uint64_t id);

  private:
    [[nodiscard]] bool receive();
    void handle(const seccomp_notif& notification);
    void handle_refused(const seccomp_notif& notification, const Caller& caller);
    void handle_socket(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller);
    void end_socket_call(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller,
                         const SocketAnswer& result);
    void handle_file(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller);
    [[nodiscard]] Answer answer(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller,
                                Call& call);
    [[nodiscard]] Answer answer_under_lock(const Caller& caller, const Call& call, std::uint64_t cookie);
    void deny_replaced(Answer& answer) const;
    [[nodiscard]] bool has_own_root(const Caller& caller) const;
    [[nodiscard]] bool is_valid(std::uint64_t cookie) const;
    [[nodiscard]] int hand_over(std::uint64_t cookie, const Call& call, const Answer& answer);
    void install(const seccomp_notif& notification, const Call& call, Answer answer);
    void open_later(const seccomp_notif& notification, const Call& call, unique_fd fifo);
    void on_opened(std::uint64_t cookie, const Call& call, unique_fd file, int error);
    void keep_done(const seccomp_notif& notification, const Call& call, Answer answer);
    void deny(const seccomp_notif& notification, const Caller& caller, wire::Denied denied);
    void refuse_told(const seccomp_notif& notification, int error);
    void let_go_on(std::uint64_t cookie);
    /// False: nobody heard it.
    [[nodiscard]] bool respond(std::uint64_t cookie, int error, unsigned flags = 0, std::int64_t value = 0);

    const wire::SessionPlan& plan_;
    ToldDenials told_;
    const SupervisorSupport support_;
    SessionLock lock_;
    NewRepositories repositories_;
    ForeignFiles foreign_files_;
    const GrantedPrograms* programs_ = nullptr;
    SocketRegistry registry_;
    SocketSupervisor sockets_;
    WaitingOpens opens_;
    unique_fd listener_;
    std::optional<mode_t> file_mask_;  // of all processes of the command, as long as none has called umask(2)
    std::vector<std::uint64_t> buffer_;  // one notification, as large as this kernel's are
    bool started_ = true;
    std::uint64_t root_mount_ = 0;
    std::uint64_t root_inode_ = 0;
    InterruptedCalls interrupted_;
};

}  // namespace sandpipe::launcher
