#include <sandpipe/error.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <asio/buffer.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "process/command_core.hpp"

namespace sandpipe::detail {
namespace {

constexpr std::uint64_t kQueueBytes = 256 * 1024;
constexpr std::size_t kReadBytes = 64 * 1024;
// A command that writes without end lets others on the same thread have their turn.
constexpr int kReadsPerTurn = 4;
constexpr int kWritesPerTurn = 4;

}  // namespace

std::chrono::nanoseconds CommandCore::since_start() const { return Clock::now() - started_at_; }

bool CommandCore::queue_full() const noexcept {
    return mode_ == Mode::streamed && !discarding_ && sequencer_.waiting_bytes() >= kQueueBytes;
}

/// Output that a denial still waits for is in its pipe already, and bounded by that; without it nothing that is queued
/// behind the denial could ever be taken.
bool CommandCore::may_read(std::size_t pipe) const noexcept { return !queue_full() || sequencer_.awaits(pipe); }

/// Waits for readiness only. The read itself is done on the strand, so that what a pipe has carried is known
/// exactly when a denial asks for it: an asynchronous read could already have taken bytes that nobody has
/// counted yet.
void CommandCore::read_when_ready(std::size_t pipe) {
    if (!io_->output[pipe] || reading_[pipe]) return;
    reading_[pipe] = true;
    io_->output[pipe]->async_read_some(asio::null_buffers(),
                                       bound([pipe](CommandCore& core, const std::error_code& error) {
                                           core.reading_[pipe] = false;
                                           if (!error) core.on_readable(pipe);
                                       }));
}

void CommandCore::on_readable(std::size_t pipe) {
    for (int turn = 0; turn < kReadsPerTurn && io_ && io_->output[pipe]; ++turn) {
        if (!may_read(pipe) || !read_some(pipe)) break;
        next_turn_ = 1 - pipe;
    }
    if (!io_ || settled_) return;
    if (may_read(pipe)) {
        read_when_ready(pipe);
    } else {
        paused_ = true;
        drain_.on_pause(Clock::now());
    }
    look_after_drain();
}

/// One read. False: the pipe is empty for now, or at its end.
bool CommandCore::read_some(std::size_t pipe) {
    // On the heap, and for threads that read: every thread of the process would have it on its stack (pthreads(7)) else.
    static thread_local const auto buffer = std::make_unique_for_overwrite<char[]>(kReadBytes);
    const ssize_t got = ::read(io_->output[pipe]->native_handle(), buffer.get(), kReadBytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
        close_output(pipe);
        return false;
    }
    read_bytes_[pipe] += static_cast<std::uint64_t>(got);
    drain_.on_data(pipe, static_cast<std::uint64_t>(got), Clock::now());
    take_output(pipe, std::string(buffer.get(), static_cast<std::size_t>(got)));
    return true;
}

void CommandCore::close_output(std::size_t pipe) {
    io_->output[pipe].reset();
    drain_.on_end(pipe);
    sequencer_.on_end(pipe);
    pass_on();
}

void CommandCore::take_output(std::size_t pipe, std::string data) {
    LimitedOutput& output = output_[pipe];
    if (mode_ == Mode::settled) {
        output.keep(data);
    } else {
        data.resize(output.admit(data).size());
        sequencer_.on_data(pipe, std::move(data), since_start());
        pass_on();
    }
    if (output.overflowed()) request_stop(Cause::output_limit);
}

/// Hands events to whoever waits for them, and reads on when there is room again.
void CommandCore::pass_on() {
    while (discarding_ && !sequencer_.empty()) (void)sequencer_.pop();
    if (next_waiter_ && !sequencer_.empty()) next_waiter_.succeed(sequencer_.pop());
    if (paused_) read_on();
}

/// By turns, or a stream without end would take all of the room each time.
void CommandCore::read_on() {
    for (const std::size_t pipe : {next_turn_, 1 - next_turn_})
        if (io_ && may_read(pipe)) read_when_ready(pipe);
    if (queue_full()) return;
    paused_ = false;
    drain_.on_resume(Clock::now());
    if (io_) look_after_drain();
}

std::uint64_t CommandCore::unread(std::size_t pipe) {
    int waiting = 0;
    if (!io_->output[pipe] || ::ioctl(io_->output[pipe]->native_handle(), FIONREAD, &waiting) < 0) return 0;
    return static_cast<std::uint64_t>(waiting);
}

void CommandCore::write_input() {
    if (!io_ || !io_->input || writing_) return;
    for (int turn = 0; input_written_ < input_.size(); ++turn) {
        if (turn == kWritesPerTurn) return write_when_ready();
        const long written = write_quietly(io_->input->native_handle(), input_.data() + input_written_,
                                           std::min(input_.size() - input_written_, kReadBytes));
        if (written == -EAGAIN) return write_when_ready();
        if (written < 0) return end_input();  // EPIPE: the command reads no more, which is its right
        input_written_ += static_cast<std::size_t>(written);
    }
    input_.clear();
    input_written_ = 0;
    if (write_waiter_) write_waiter_.succeed(true);
    if (input_ends_) end_input();
}

void CommandCore::write_when_ready() {
    writing_ = true;
    io_->input->async_write_some(asio::null_buffers(),
                                 bound([](CommandCore& core, const std::error_code& error) {
                                     core.writing_ = false;
                                     if (!error) core.write_input();
                                 }));
}

void CommandCore::end_input() {
    if (io_) io_->input.reset();
    input_.clear();
    input_written_ = 0;
    if (write_waiter_) write_waiter_.succeed(false);
}

awaitable<bool> CommandCore::write(std::string data) {
    check_context();
    if (!std::holds_alternative<Input::Stream>(fields_.input.source()))
        throw Error(Errc::invalid_sandbox_config, "write: the command's input is not Input::stream()");
    std::function<void(Completion<bool>)> start = [self = shared_from_this(),
                                                   data = std::move(data)](Completion<bool> done) {
        auto waiting = std::make_shared<Completion<bool>>(std::move(done));
        self->on_strand([waiting, data](CommandCore& core) {
            if (core.write_waiter_) return refuse_second(*waiting, "write");
            if (!core.io_ || !core.io_->input || core.input_ends_) return waiting->succeed(false);
            core.input_ += data;
            core.write_waiter_ = std::move(*waiting);
            core.write_input();
        });
    };
    OnCancel<bool> on_cancel;
    on_cancel.cancel = [self = shared_from_this()] {
        self->on_strand([](CommandCore& core) {
            if (!core.write_waiter_) return;
            core.input_.clear();
            core.input_written_ = 0;
            core.write_waiter_.abort();
        });
    };
    return await_completion<bool>(std::move(start), std::move(on_cancel));
}

void CommandCore::close_input() {
    on_strand([](CommandCore& core) {
        core.input_ends_ = true;
        core.write_input();
    });
}

}  // namespace sandpipe::detail
