#pragma once

#include <sandpipe/command_stream.hpp>
#include <sandpipe/output_event.hpp>

#include <asio/bind_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/readable_pipe.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/writable_pipe.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "process/aside.hpp"
#include "process/completion.hpp"
#include "process/denial_fold.hpp"
#include "process/limited_output.hpp"
#include "process/output_sequencer.hpp"
#include "process/pipe_drain.hpp"
#include "process/runtime_core.hpp"
#include "process/session.hpp"
#include "process/stdio_files.hpp"
#include "process/stdio_plan.hpp"
#include "process/stop_escalation.hpp"
#include "wire/messages.hpp"
#include "wire/relay_messages.hpp"

namespace sandpipe::detail {

/// What an executor or a stream uses where the invocation says nothing.
struct CommandDefaults {
    std::chrono::nanoseconds timeout = kNoTimeout;
    std::optional<OutputLimit> limit;
    Environment env = Environment::standard();
};

/// One command from its request to its settled result. Settled and streamed commands take the same path: the
/// first keep their output, the second queue it. Everything but the public functions runs on the strand; what
/// is decided is decided by the pure machines (StopEscalation, PipeDrain, OutputSequencer, LimitedOutput),
/// which this obeys.
class CommandCore final : public RuntimeMember, public std::enable_shared_from_this<CommandCore> {
  public:
    enum class Mode : std::uint8_t { settled, streamed };
    using Clock = std::chrono::steady_clock;

    /// Checks the invocation and lays out the request; starts nothing. Throws `Error`.
    static std::shared_ptr<CommandCore> make(std::shared_ptr<RuntimeCore> runtime,
                                             BinaryInvocation invocation, const CommandDefaults& defaults,
                                             Mode mode);

    /// Starts; completes when the program runs or has failed to. False: cancelled meanwhile.
    awaitable<bool> start();
    /// Starts and completes with the settled result.
    awaitable<BinaryExecResult> run_to_end();
    awaitable<std::optional<OutputEvent>> next();
    awaitable<CommandResult> finish();
    awaitable<bool> write(std::string data);
    void close_input();
    /// Asks for the end; again: kills.
    void stop();
    /// Kills.
    void end_at_once();
    /// Sends a signal that begins no stop, to the first process or to all of them. In a session only. It waits for a
    /// program that is being started; one that is still queued is not started after a signal to all.
    void relay_signal(int signal, bool to_all);
    /// Nobody will ask for output any more: the command is stopped and seen to its end.
    void abandon();

    ~CommandCore() override { runtime_->forget(id_); }

    [[nodiscard]] bool started() const noexcept { return program_started_; }
    [[nodiscard]] const std::string& marker() const noexcept { return marker_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    [[nodiscard]] bool is_command() const noexcept override { return true; }
    [[nodiscard]] const Session* session() const noexcept override { return fields_.session.get(); }
    void request_end() override;
    void release_io() noexcept override;
    void look_for_socket(std::shared_ptr<SocketSearch> search) override;

  private:
    using Strand = asio::strand<asio::any_io_executor>;

    /// The files of its streams, while they are opened aside.
    struct Opening {
        Opening(const Strand& strand, std::shared_ptr<StdioFiles> named) : files(std::move(named)), ended(strand) {}
        Opening(const Opening&) = delete;
        Opening& operator=(const Opening&) = delete;
        ~Opening() { files->call_off(); }
        const std::shared_ptr<StdioFiles> files;
        std::shared_ptr<AsideTask> task;
        asio::posix::stream_descriptor ended;
    };

    /// What needs the context: given up as one, when the command has settled or the context goes.
    struct Io {
        explicit Io(const Strand& strand)
            : deadline(strand), stop_timer(strand), drain_timer(strand), start_timer(strand) {}
        std::optional<Opening> opening;
        std::optional<asio::posix::stream_descriptor> record;
        std::array<std::optional<asio::readable_pipe>, 2> output;
        std::optional<asio::writable_pipe> input;
        asio::steady_timer deadline;
        asio::steady_timer stop_timer;
        asio::steady_timer drain_timer;
        asio::steady_timer start_timer;
    };

    CommandCore(std::shared_ptr<RuntimeCore> runtime, BinaryInvocation invocation,
                const CommandDefaults& defaults, Mode mode);

    // command_start.cpp: from the request to a running program
    void lay_out_request(const CommandDefaults& defaults);
    void begin();
    void on_place();
    void open_aside(std::shared_ptr<StdioFiles> files);
    void wait_for_files();
    void on_files_open();
    void on_files(StdioFiles* files);
    void send_request(StdioPlan stdio);
    [[nodiscard]] std::error_code adopt_ends(unique_fd& record, StdioPlan& stdio);
    void on_started(const wire::Started& message);
    void on_start_failed(const wire::Failure& failure);
    void fail_start(NotStarted failure);

    // command_core.cpp: the record socket, the end and the result
    void wait_for_record();
    void on_record();
    void on_message(const wire::Packet& packet);
    void on_ended(const wire::Ended& message);
    void on_lost();
    void on_lost_start();
    void request_stop(Cause cause);
    void obey(const StopEscalation::Step& step);
    void send_signal(int signal);
    void pass_relayed_on();
    void tell(std::string message);
    void send_unsent();
    void look_after_drain();
    void settle();
    void complete_waiters();
    void fill_in_facts();
    [[nodiscard]] CommandResult result() const;
    void on_end(EndStatus status);
    void leave_when_closing();

    // command_denials.cpp: what was refused, and where it stands in the stream
    void on_denied(const wire::Denied& message);
    void ask_for_socket(std::shared_ptr<SocketSearch> search);
    void on_socket_holder(const wire::SocketHolder& message);
    void end_searches();
    void add_denial(Denial denial);
    void tell_folded_hosts();

    // command_pipes.cpp: stdin, stdout, stderr, and who waits for them
    void read_when_ready(std::size_t pipe);
    void on_readable(std::size_t pipe);
    bool read_some(std::size_t pipe);
    void take_output(std::size_t pipe, std::string data);
    void close_output(std::size_t pipe);
    void pass_on();
    void read_on();
    [[nodiscard]] bool may_read(std::size_t pipe) const noexcept;
    [[nodiscard]] bool queue_full() const noexcept;
    void write_input();
    void write_when_ready();
    void end_input();
    [[nodiscard]] std::uint64_t unread(std::size_t pipe);
    [[nodiscard]] std::chrono::nanoseconds since_start() const;

    /// Throws `Error` where the context has gone: who waits then would never hear of it.
    void check_context() const;
    template <typename F>
    void on_strand(F function);
    template <typename F>
    auto bound(F function);
    void arm(asio::steady_timer& timer, Clock::time_point at, void (CommandCore::*on_time)());
    void on_deadline();
    void on_stop_time();
    void on_start_time();

    const std::shared_ptr<RuntimeCore> runtime_;
    InvocationFields fields_;  // as they were given, but for descriptors that were passed on
    const Mode mode_;
    const std::uint64_t id_;
    std::optional<Strand> strand_;  // given up with the I/O: it belongs to the context too
    const std::string marker_;
    std::shared_ptr<PacketChannel> channel_;
    wire::StartCommand request_;
    std::chrono::nanoseconds timeout_ = kNoTimeout;
    Clock::time_point asked_at_ = Clock::now();
    Clock::time_point started_at_{};
    Clock::time_point ended_at_{};

    std::optional<Io> io_;
    std::atomic<bool> io_released_{false};
    std::atomic<bool> program_started_{false};
    bool settled_ = false;
    bool discarding_ = false;
    bool closing_ = false;  // the Runtime or the session waits for the end of its processes
    bool paused_ = false;
    std::array<bool, 2> reading_{};
    std::array<std::uint64_t, 2> read_bytes_{};
    std::size_t next_turn_ = 0;  // the pipe that is read first when there is room again

    std::optional<NotStarted> refusal_;  // known before anything is tried
    StopEscalation stop_;
    PipeDrain drain_;
    OutputSequencer sequencer_;
    std::map<std::uint64_t, std::shared_ptr<SocketSearch>> searches_;  // which the init has not answered
    std::uint64_t last_search_ = 0;
    DenialFold refused_hosts_;  // the init folds its own
    std::array<LimitedOutput, 2> output_;

    std::string input_;
    std::size_t input_written_ = 0;
    bool input_ends_ = false;
    bool writing_ = false;

    std::vector<wire::RelayedSignal> relayed_;  // to be sent once the program runs
    std::deque<std::string> unsent_;            // what the record socket could not take yet

    EndStatus status_ = NotStarted{};
    std::optional<wire::Ended> ended_;
    Cause cause_ = Cause::not_started;
    std::optional<std::string> refused_by_;  // the rule by which the policy refused the start itself
    bool lost_ = false;
    CommandFacts facts_;

    Completion<bool> start_waiter_;
    Completion<BinaryExecResult> result_waiter_;
    Completion<std::optional<OutputEvent>> next_waiter_;
    Completion<CommandResult> finish_waiter_;
    Completion<bool> write_waiter_;
};

/// `start_command` for whoever has no Runtime object at hand.
awaitable<CommandStream> start_stream(std::shared_ptr<RuntimeCore> runtime, BinaryInvocation invocation);

template <typename F>
void CommandCore::on_strand(F function) {
    if (io_released_) return;
    asio::post(*strand_, [self = shared_from_this(), function = std::move(function)]() mutable {
        if (!self->io_released_) function(*self);
    });
}

template <typename F>
auto CommandCore::bound(F function) {
    return asio::bind_executor(*strand_, [self = shared_from_this(), function = std::move(function)](
                                            const std::error_code& error, auto&&...) mutable {
        if (!self->io_released_) function(*self, error);
    });
}

}  // namespace sandpipe::detail
