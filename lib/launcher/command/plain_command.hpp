#pragma once

#include <sandpipe/unique_fd.hpp>

#include <functional>
#include <memory>

#include "launcher/command/child.hpp"
#include "launcher/command/process_table.hpp"
#include "launcher/loop/event_loop.hpp"
#include "wire/packet_socket.hpp"

namespace sandpipe::launcher {

/// False for anything but a well-formed StartCommand with its four descriptors.
[[nodiscard]] bool is_start(const wire::Packet& packet, wire::StartCommand& command);
/// Takes one apart: its message and record, stdin, stdout, stderr. False, with nothing taken: it is none.
[[nodiscard]] bool take_start(wire::Packet& packet, wire::StartCommand& command, unique_fd& record,
                              std::vector<unique_fd>& stdio);

[[nodiscard]] wire::Ended ended_message(int wait_status, const rusage& usage);

/// One command without a sandbox, from its start until its host has let go of the record socket and nothing
/// is left to reap. The leader stays unreaped while the tree is being stopped, which pins its process group's
/// number.
class PlainCommand {
  public:
    /// What its owner wants to hear. `stopping`: from now on it wants to be looked after, by `follow`.
    struct Owner {
        std::function<void(PlainCommand&)> stopping;
        std::function<void(PlainCommand&)> done;
    };

    PlainCommand(EventLoop& loop, wire::StartCommand command, unique_fd record, std::vector<unique_fd> stdio,
                 const ChildSettings& settings, Owner owner);
    PlainCommand(const PlainCommand&) = delete;
    PlainCommand& operator=(const PlainCommand&) = delete;
    ~PlainCommand();

    /// Starts, or tries again. False: processes are short, call again in a moment; so for at most half a second.
    [[nodiscard]] bool start();
    /// Its process, once start() has returned true; -1 if that failed.
    [[nodiscard]] pid_t leader() const noexcept { return child_.pid(); }
    /// Whether now is the time to `follow` its stop: every 20 ms, and after a new signal.
    [[nodiscard]] bool wants_look() const noexcept;
    /// Goes on with the stop by a look that is newer than what made it wanted. False: wants another one at once.
    [[nodiscard]] bool follow(const ProcessTable& processes);
    /// Goes on as far as one can who sees no processes: what is to be killed dies as far as it is in the group, and
    /// nothing is taken for ended but the leader.
    void follow_unseen();

  private:
    [[nodiscard]] bool may_try_again();
    void watch();
    void unwatch(int fd);
    void on_channel();
    void on_exit();
    void on_record();
    void begin_stop();
    void signal_all(int signal);
    void fail_start(const wire::Failure& failure);
    void send_signals(const CommandTree& tree);
    [[nodiscard]] bool settle(const CommandTree& tree);
    void report_end();
    void send(const std::string& message);
    void let_go_of_record();
    void finish(const std::string& last_word);

    EventLoop& loop_;
    unique_fd record_;
    const rlimit mark_;
    const bool end_survivors_;
    Child child_;
    Owner owner_;
    wire::Ended ended_;
    std::int64_t first_try_ns_ = 0;
    std::vector<int> unsent_;  // signals, until the next look has shown all whom they are for
    std::int64_t next_look_ns_ = 0;
    int empty_looks_ = 0;
    bool started_ = false;
    bool stopping_ = false;
    std::int64_t killing_ns_ = 0;  // since when with SIGKILL, until nothing of the tree is left; 0: not yet
    bool counts_survivors_ = false;
    bool exited_ = false;
    bool reported_ = false;
};

}  // namespace sandpipe::launcher
