#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/cell/init.hpp"
#include "launcher/command/child.hpp"
#include "launcher/loop/event_loop.hpp"
#include "launcher/loop/record_socket.hpp"
#include "launcher/loop/request_socket.hpp"
#include "launcher/supervisor/supervisor.hpp"
#include "wire/packet_socket.hpp"
#include "wire/relay_messages.hpp"

namespace sandpipe::launcher {

/// Pid 1 of a pid namespace: starts one command after the other, supervises it and ends it.
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
    void reap(pid_t pid);
    void take_last_words();
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
    bool more_ended_ = false;  // there may be children to be reaped, of which no signal will tell
    std::int64_t next_look_ns_ = 0;
    bool over_ = false;
};

}  // namespace sandpipe::launcher
