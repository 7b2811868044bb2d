#include <sandpipe/error.hpp>

#include <csignal>
#include <utility>

#include "process/command_core.hpp"

// What callers ask of a command, on any thread; each goes on on the strand.

namespace sandpipe::detail {
namespace {

/// Holds a Completion where a copyable function must carry it.
template <typename T>
std::shared_ptr<Completion<T>> shared(Completion<T> done) {
    return std::make_shared<Completion<T>>(std::move(done));
}

}  // namespace

void CommandCore::check_context() const {
    if (io_released_)
        throw Error(Errc::sandbox_not_initialized, "the context of this command's Runtime has been destroyed");
}

awaitable<bool> CommandCore::start() {
    std::function<void(Completion<bool>)> begin = [self = shared_from_this()](Completion<bool> done) {
        self->on_strand([waiting = shared(std::move(done))](CommandCore& core) {
            core.start_waiter_ = std::move(*waiting);
            core.begin();
        });
    };
    OnCancel<bool> on_cancel;
    on_cancel.cancel = [self = shared_from_this()] { self->stop(); };
    on_cancel.give_back = [self = shared_from_this()](bool) { self->abandon(); };
    return await_completion<bool>(std::move(begin), std::move(on_cancel));
}

awaitable<BinaryExecResult> CommandCore::run_to_end() {
    std::function<void(Completion<BinaryExecResult>)> begin =
        [self = shared_from_this()](Completion<BinaryExecResult> done) {
            self->on_strand([waiting = shared(std::move(done))](CommandCore& core) {
                core.result_waiter_ = std::move(*waiting);
                core.begin();
            });
        };
    OnCancel<BinaryExecResult> on_cancel;
    on_cancel.cancel = [self = shared_from_this()] { self->stop(); };
    return await_completion<BinaryExecResult>(std::move(begin), std::move(on_cancel));
}

awaitable<std::optional<OutputEvent>> CommandCore::next() {
    check_context();
    using Event = std::optional<OutputEvent>;
    std::function<void(Completion<Event>)> begin = [self = shared_from_this()](Completion<Event> done) {
        self->on_strand([waiting = shared(std::move(done))](CommandCore& core) {
            if (core.next_waiter_) return refuse_second(*waiting, "next");
            core.next_waiter_ = std::move(*waiting);
            core.pass_on();
            if (core.next_waiter_ && core.settled_) core.next_waiter_.succeed({});
        });
    };
    OnCancel<Event> on_cancel;
    on_cancel.cancel = [self = shared_from_this()] {
        self->on_strand([](CommandCore& core) {
            if (core.next_waiter_) core.next_waiter_.abort();
        });
    };
    on_cancel.give_back = [self = shared_from_this()](Event event) {
        self->on_strand([kept = std::make_shared<Event>(std::move(event))](CommandCore& core) {
            if (*kept) core.sequencer_.unpop(std::move(**kept));
        });
    };
    return await_completion<Event>(std::move(begin), std::move(on_cancel));
}

awaitable<CommandResult> CommandCore::finish() {
    check_context();
    std::function<void(Completion<CommandResult>)> begin =
        [self = shared_from_this()](Completion<CommandResult> done) {
            self->on_strand([waiting = shared(std::move(done))](CommandCore& core) {
                if (core.finish_waiter_) return refuse_second(*waiting, "finish");
                core.discarding_ = true;
                core.pass_on();
                if (core.settled_) return waiting->succeed(core.result());
                core.finish_waiter_ = std::move(*waiting);
            });
        };
    OnCancel<CommandResult> on_cancel;
    on_cancel.cancel = [self = shared_from_this()] { self->stop(); };
    return await_completion<CommandResult>(std::move(begin), std::move(on_cancel));
}

void CommandCore::stop() {
    on_strand([](CommandCore& core) { core.request_stop(Cause::cancelled); });
}

void CommandCore::request_end() {
    on_strand([](CommandCore& core) {
        core.closing_ = true;
        core.request_stop(Cause::cancelled);
        core.leave_when_closing();
    });
}

/// What the processes have left in a stream may wait for its consumer, but nobody waits for that one.
void CommandCore::leave_when_closing() {
    const bool ended = ended_ || lost_ || stop_.abandoned();
    if (closing_ && ended && mode_ == Mode::streamed) runtime_->leave(id_);
}

void CommandCore::end_at_once() {
    on_strand([](CommandCore& core) {
        core.request_stop(Cause::cancelled);
        core.request_stop(Cause::cancelled);
    });
}

void CommandCore::relay_signal(int signal, bool to_all) {
    on_strand([signal, to_all](CommandCore& core) {
        if (core.settled_ || core.ended_) return;
        if (!core.channel_ && to_all && signal != SIGCONT) return core.request_stop(Cause::cancelled);
        core.relayed_.push_back({signal, to_all});
        if (core.program_started_) core.pass_relayed_on();
    });
}

void CommandCore::pass_relayed_on() {
    for (const wire::RelayedSignal& signal : std::exchange(relayed_, {}))
        tell(wire::encode(signal));
}

void CommandCore::abandon() {
    on_strand([](CommandCore& core) {
        core.discarding_ = true;
        core.pass_on();
        if (!core.stop_.requested()) core.request_stop(Cause::cancelled);
    });
}

}  // namespace sandpipe::detail
