#pragma once

#include <sandpipe/unique_fd.hpp>

#include <functional>
#include <memory>

#include "launcher/child.hpp"
#include "launcher/event_loop.hpp"
#include "wire/packet_socket.hpp"

namespace sandpipe::launcher {

/// Takes a StartCommand apart: its message and record, stdin, stdout, stderr. False for anything malformed.
[[nodiscard]] bool take_start(wire::Packet& packet, wire::StartCommand& command, unique_fd& record,
                              std::vector<unique_fd>& stdio);

[[nodiscard]] wire::Ended ended_message(int wait_status, const rusage& usage);

/// One command without a sandbox, from its start until its host has let go of the record socket and nothing
/// is left to reap. The leader stays unreaped while the tree is being stopped, which pins its process group's
/// number.
class PlainCommand {
  public:
    using Done = std::function<void(PlainCommand&)>;

    PlainCommand(EventLoop& loop, wire::StartCommand command, unique_fd record, std::vector<unique_fd> stdio,
                 const ChildSettings& settings, Done done);
    PlainCommand(const PlainCommand&) = delete;
    PlainCommand& operator=(const PlainCommand&) = delete;
    ~PlainCommand();

    /// Starts, or tries again. False: processes are short, call again in a moment; so for at most half a second.
    [[nodiscard]] bool start();
    /// Its process, once start() has returned true; -1 if that failed.
    [[nodiscard]] pid_t leader() const noexcept { return child_.pid(); }
    /// Something below the launcher has ended: the tree may have become empty.
    void on_descendant_ended();

  private:
    [[nodiscard]] bool may_try_again();
    void watch();
    void unwatch(int fd);
    void on_channel();
    void on_exit();
    void on_record();
    void signal_all(int signal);
    void fail_start(const wire::Failure& failure);
    void end_tree();
    void settle();
    void send(const std::string& message);
    void let_go_of_record();
    void finish();

    EventLoop& loop_;
    unique_fd record_;
    Child child_;
    Done done_;
    std::string mark_;
    wire::Ended ended_;
    std::int64_t first_try_ns_ = 0;
    bool end_survivors_ = false;
    bool started_ = false;
    bool stopping_ = false;
    std::int64_t killing_ns_ = 0;  // since when with SIGKILL, until nothing of the tree is left; 0: not yet
    bool exited_ = false;
    bool reported_ = false;
};

}  // namespace sandpipe::launcher
