#include "command_core.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "process/audit_trail.hpp"
#include "wire/packet_socket.hpp"

namespace sandpipe::detail {
namespace {

EndStatus status_from(int wait_status) {
    if (WIFEXITED(wait_status)) return Exited{WEXITSTATUS(wait_status)};
    return Signaled{WTERMSIG(wait_status), WCOREDUMP(wait_status) != 0};
}

}  // namespace

// ---- The record socket ----

void CommandCore::wait_for_record() {
    io_->record->async_wait(asio::posix::descriptor_base::wait_read,
                            bound([](CommandCore& core, const std::error_code& error) {
                                if (!error) core.on_record();
                            }));
}

void CommandCore::on_record() {
    while (io_ && io_->record) {
        wire::Packet packet;
        const int got = wire::receive_packet(io_->record->native_handle(), packet);
        if (got == -EAGAIN) return wait_for_record();
        if (got <= 0) {
            io_->record.reset();
            return on_lost();
        }
        on_message(packet);
    }
}

void CommandCore::on_message(const wire::Packet& packet) {
    wire::Started started;
    wire::Failure failed;
    wire::Denied denied;
    wire::Ended ended;
    if (wire::decode(packet.bytes, started)) return on_started(started);
    if (wire::decode(packet.bytes, denied)) return on_denied(denied);
    wire::SocketHolder holder;
    if (wire::decode(packet.bytes, holder)) return on_socket_holder(holder);
    if (wire::decode(packet.bytes, ended)) return on_ended(ended);
    if (wire::decode(packet.bytes, failed)) return on_start_failed(failed);
    io_->record.reset();
    on_lost();
}

void CommandCore::on_ended(const wire::Ended& message) {
    ended_ = message;
    ended_at_ = Clock::time_point(std::chrono::nanoseconds(message.monotonic_ns));
    on_end(status_from(message.wait_status));
}

void CommandCore::on_lost() {
    if (settled_ || ended_ || lost_) return;
    lost_ = true;
    runtime_->log(LogLevel::error, id_, "lost: the launcher's side of it went away");
    if (!program_started_) return on_lost_start();
    on_end(Signaled{SIGKILL, false});  // what was below them has been killed by the kernel
}

/// Whether the program ran is not known. What is in the pipes says that it did.
void CommandCore::on_lost_start() {
    cause_ = Cause::lost;
    started_at_ = Clock::now();
    // No more than there is now: whoever lives on may write for ever.
    for (std::size_t pipe = 0; pipe < 2; ++pipe) {
        const std::uint64_t end = read_bytes_[pipe] + unread(pipe);
        while (read_bytes_[pipe] < end && read_some(pipe)) continue;
    }
    fail_start({Stage::launcher,
                std::make_error_code(std::errc::connection_reset),
                {},
                "the launcher, or the session's cell or init, went away"});
}

void CommandCore::on_end(EndStatus status) {
    if (!ended_) ended_at_ = Clock::now();
    end_searches();
    tell_folded_hosts();
    status_ = status;
    cause_ = stop_.requested() ? stop_.cause() : lost_ ? Cause::lost : Cause::finished;
    io_->record.reset();
    io_->deadline.cancel();
    io_->stop_timer.cancel();
    end_input();
    const std::array<std::uint64_t, 2> own{unread(0), unread(1)};
    // What it wrote last is read after its end: too much is too much, whichever of the two was seen first. What others
    // add later, who hold its pipes, is cut and changes nothing of how it ended.
    for (std::size_t pipe = 0; pipe < 2; ++pipe)
        if (cause_ == Cause::finished && output_[pipe].overflowed(own[pipe])) cause_ = Cause::output_limit;
    drain_.on_exit(own, Clock::now());
    for (std::size_t pipe = 0; pipe < 2; ++pipe)
        if (io_ && io_->output[pipe]) on_readable(pipe);
    look_after_drain();
    leave_when_closing();
}

// ---- Stopping ----

void CommandCore::request_stop(Cause cause) {
    if (settled_ || ended_ || lost_) return;
    if (!channel_) {
        // Still waiting for a place: nothing was started, and nothing will be.
        cause_ = cause;
        (void)stop_.request(cause, Clock::now());
        return fail_start({Stage::queue, std::make_error_code(std::errc::operation_canceled), fields_.program,
                           "cancelled before it was started"});
    }
    obey(stop_.request(cause, Clock::now()));
}

void CommandCore::on_deadline() {
    runtime_->log(LogLevel::info, id_, "timed out");
    request_stop(Cause::timed_out);
}

void CommandCore::on_stop_time() { obey(stop_.on_time(Clock::now())); }

void CommandCore::obey(const StopEscalation::Step& step) {
    switch (step.act) {
        case StopEscalation::Act::none:
            break;
        case StopEscalation::Act::signal:
            send_signal(fields_.stop.signal);
            break;
        case StopEscalation::Act::kill:
            send_signal(SIGKILL);
            break;
        case StopEscalation::Act::abandon:
            runtime_->log(LogLevel::error, id_, "the kernel does not end it; given up");
            if (fields_.session) channel_->send(wire::encode(wire::DiscardCommand{id_}), {});
            return program_started_
                       ? on_end(Signaled{SIGKILL, false})
                       : fail_start({Stage::program, std::make_error_code(std::errc::timed_out),
                                     fields_.program, "its start hangs, and the kernel does not end it"});
    }
    if (step.wake_at && io_) arm(io_->stop_timer, *step.wake_at, &CommandCore::on_stop_time);
}

void CommandCore::send_signal(int signal) {
    if (!io_ || !io_->record) return;
    runtime_->log(LogLevel::debug, id_, "sending " + signal_name(signal));
    tell(wire::encode(wire::Signal{signal}));
}

/// To the launcher's side, now or when the socket takes it.
void CommandCore::tell(std::string message) {
    if (!io_ || !io_->record) return;
    unsent_.push_back(std::move(message));
    if (unsent_.size() == 1) send_unsent();
}

void CommandCore::send_unsent() {
    while (!unsent_.empty()) {
        if (wire::send_packet(io_->record->native_handle(), unsent_.front()) == -EAGAIN)
            return io_->record->async_wait(asio::posix::descriptor_base::wait_write,
                                           bound([](CommandCore& core, const std::error_code& error) {
                                               if (!error && core.io_ && core.io_->record) core.send_unsent();
                                           }));
        // A side that is gone shows as end of file on the same socket.
        unsent_.pop_front();
    }
}

// ---- The end ----

void CommandCore::look_after_drain() {
    if (settled_ || !io_) return;
    const Clock::time_point now = Clock::now();
    if (drain_.settled(now)) return settle();
    if (const auto wake_at = drain_.wake_at())
        arm(io_->drain_timer, std::max(*wake_at, now + std::chrono::milliseconds{1}),
            &CommandCore::look_after_drain);
}

void CommandCore::fill_in_facts() {
    facts_.status = status_;
    facts_.cause = cause_;
    if (const auto* exited = std::get_if<Exited>(&status_)) facts_.exit_code = exited->code;
    facts_.failed = facts_.exit_code != 0 || cause_ != Cause::finished;
    facts_.forced = stop_.forced();
    facts_.abandoned = stop_.abandoned() || (ended_ && ended_->abandoned);
    facts_.pipe_held_open = program_started_ && drain_.held_open();
    facts_.out_facts = output_[0].facts();
    facts_.err_facts = output_[1].facts();
    if (timeout_ != kNoTimeout) facts_.timeout = timeout_;
    facts_.queued = (program_started_ ? started_at_ : Clock::now()) - asked_at_;
    if (program_started_) facts_.wall = ended_at_ - started_at_;
    if (!ended_) return;
    facts_.survivors_ended = ended_->survivors_ended;
    facts_.user = std::chrono::microseconds(ended_->user_us);
    facts_.system = std::chrono::microseconds(ended_->system_us);
    facts_.max_rss = ended_->max_rss_bytes;
}

CommandResult CommandCore::result() const {
    CommandResult result;
    static_cast<CommandFacts&>(result) = facts_;
    result.denials = sequencer_.denials();
    result.denials_complete = !fields_.session || fields_.session->denials_complete();
    result.marker = marker_;
    return result;
}

void CommandCore::settle() {
    settled_ = true;
    end_searches();
    end_input();
    fill_in_facts();
    sequencer_.on_no_more();
    runtime_->log(LogLevel::info, id_, "settled: " + std::string(to_string(cause_)));
    if (mode_ == Mode::streamed) {
        Finished finished;
        finished.time = program_started_ ? since_start() : std::chrono::nanoseconds{};
        finished.result = result();
        sequencer_.on_finished(std::move(finished));
    }
    io_.reset();
    complete_waiters();
    runtime_->leave(id_);
    if (fields_.session) fields_.session->command_ended();
}

void CommandCore::complete_waiters() {
    if (start_waiter_) start_waiter_.succeed(false);
    pass_on();
    if (next_waiter_) next_waiter_.succeed({});  // `finish` has passed over the last event
    if (finish_waiter_) finish_waiter_.succeed(result());
    if (!result_waiter_) return;
    BinaryExecResult settled;
    static_cast<CommandFacts&>(settled) = facts_;
    settled.out = output_[0].take();
    settled.err = output_[1].take();
    result_waiter_.succeed(std::move(settled));
}

void CommandCore::arm(asio::steady_timer& timer, Clock::time_point at, void (CommandCore::*on_time)()) {
    timer.expires_at(at);
    timer.async_wait(bound([on_time](CommandCore& core, const std::error_code& error) {
        if (!error && core.io_) (core.*on_time)();
    }));
}

void CommandCore::release_io() noexcept {
    io_released_ = true;
    io_.reset();
    // Coroutines that wait hold this object: they go now, or nobody ever would.
    const auto start = std::move(start_waiter_);
    const auto result = std::move(result_waiter_);
    const auto next = std::move(next_waiter_);
    const auto finish = std::move(finish_waiter_);
    const auto write = std::move(write_waiter_);
    const auto searches = std::move(searches_);
    strand_.reset();
}

}  // namespace sandpipe::detail
