#pragma once

#include <sandpipe/unique_fd.hpp>

#include <linux/seccomp.h>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "launcher/supervised_act.hpp"
#include "wire/access_rules.hpp"
#include "wire/messages.hpp"

namespace sandpipe::launcher {

/// Answers the notified system calls of one command (seccomp_unotify(2)). Lives in the init, is
/// single-threaded, and never blocks: a refused call waits for the host's acknowledgement as a pending id
/// while others are answered.
class Supervisor {
  public:
    /// `report` sends a Denied to the host; false where there is none to tell: then the call is refused at
    /// once.
    using Report = std::function<bool(const wire::Denied&)>;

    /// The commands of a session have a supervisor each, and one may move a directory in which another is
    /// about to make something. `session_lock` is any file that the session's supervisors share (a memfd of
    /// the cell), held by flock(2) from looking until acting; it must stay open. The kernel gives it up when
    /// its holder dies. -1: there is no other supervisor.
    Supervisor(const wire::AccessRules& rules, Report report, int session_lock = -1)
        : rules_(rules), report_(std::move(report)), session_lock_(session_lock) {}

    /// A new command's listener. What was pending for the last one is forgotten.
    void attach(unique_fd listener);
    /// The command and all it left are gone.
    void detach();
    /// To poll for reading; -1 while there is none.
    [[nodiscard]] int listener() const noexcept { return listener_.get(); }

    /// The listener is readable: takes one notification and answers it, or reports it and lets it wait. Until the
    /// command's program has `started`, its execve is left to the kernel: it is the start that fails then.
    void on_notification(bool started);
    /// The host has noted the place of denial `id`: the call fails now. An unknown id is ignored.
    void on_acknowledged(std::uint64_t id);

  private:
    struct Pending {
        std::uint64_t cookie = 0;  // seccomp's id of the call
        int error = 0;
    };

    [[nodiscard]] bool receive();
    [[nodiscard]] bool is_start(const NotifiedCall& row) const;
    void handle(const seccomp_notif& notification);
    [[nodiscard]] Answer answer(const seccomp_notif& notification, const Caller& caller, Call& call);
    [[nodiscard]] Answer answer_under_lock(const Caller& caller, const Call& call, std::uint64_t cookie);
    [[nodiscard]] bool has_own_root(const Caller& caller) const;
    [[nodiscard]] int hold_lock();
    [[nodiscard]] bool is_valid(std::uint64_t cookie) const;
    void install(std::uint64_t cookie, const Call& call, const Answer& answer);
    void deny(std::uint64_t cookie, const Caller& caller, const Call& call, const Answer& answer);
    void respond(std::uint64_t cookie, int error, unsigned flags = 0);

    const wire::AccessRules& rules_;
    Report report_;
    int session_lock_;
    unique_fd own_lock_;
    unique_fd listener_;
    std::vector<std::uint64_t> buffer_;  // one notification, as large as this kernel's are
    bool started_ = true;
    std::uint64_t root_mount_ = 0;
    std::uint64_t root_inode_ = 0;
    std::uint64_t next_id_ = 1;
    std::uint64_t folded_ = 0;
    std::unordered_map<std::uint64_t, Pending> pending_;
};

}  // namespace sandpipe::launcher
