#pragma once

#include <sandpipe/unique_fd.hpp>

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "launcher/command/plain_command.hpp"
#include "launcher/loop/event_loop.hpp"
#include "launcher/loop/request_socket.hpp"

namespace sandpipe::launcher {

/// The helper's main loop: starts and reaps plain commands and makes cells, until its host is gone; then
/// everything below it ends.
class Launcher {
  public:
    /// `control`: the host's requests. `host`: a pidfd of the host process, readable when it has ended,
    /// whoever else may hold the other end of `control`.
    Launcher(unique_fd control, unique_fd host) : control_(std::move(control)), host_(std::move(host)) {}

    /// Returns when the host is gone: an exit status for the process.
    int run();

  private:
    [[nodiscard]] bool set_up();
    [[nodiscard]] bool is_quiet() const noexcept;  // nothing to look after but what descriptors tell
    void follow_stops();
    void on_control();
    void on_children();
    void reap_orphans();
    void bury(PlainCommand& ended);
    void start_command(wire::Packet packet);
    void make_cell(wire::Packet packet);
    void start_waiting();

    RequestSocket control_;
    unique_fd host_;
    unique_fd child_signals_;
    EventLoop loop_;
    ChildSettings settings_;
    bool host_gone_ = false;
    std::unordered_map<PlainCommand*, std::unique_ptr<PlainCommand>> commands_;
    std::unordered_set<pid_t> leaders_;                     // of running commands: not ours to reap here
    std::unordered_set<PlainCommand*> stopping_;
    bool orphans_due_ = false;                              // somebody's child has ended
    std::int64_t next_reap_ns_ = 0;
    std::vector<PlainCommand*> waiting_;                    // for processes to become free
    std::vector<std::unique_ptr<PlainCommand>> graveyard_;  // ended in a callback of their own
};

/// Raises this process's limit of open files to what it may be and returns what it was, for the commands.
[[nodiscard]] rlimit raise_open_files();

}  // namespace sandpipe::launcher
