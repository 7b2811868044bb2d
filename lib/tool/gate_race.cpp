#include "gate_race.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <functional>
#include <utility>

#include "process/completion.hpp"

namespace sandpipe::tool {
namespace {

using detail::Completion;

class GateRace : public std::enable_shared_from_this<GateRace> {
  public:
    GateRace(const asio::any_io_executor& executor, std::shared_ptr<const Gate> gate, ToolRequest request,
             std::optional<std::chrono::nanoseconds> timeout)
        : executor_(asio::make_strand(executor)),
          gate_(std::move(gate)),
          request_(std::move(request)),
          timeout_(timeout),
          timer_(executor_) {}

    void begin(Completion<GateDecision> done) {
        const auto waiting = std::make_shared<Completion<GateDecision>>(std::move(done));
        asio::post(executor_, [self = shared_from_this(), waiting] {
            self->done_ = std::move(*waiting);
            self->start_gate();
            if (self->timeout_) self->start_timer();
        });
    }

    void cancel() {
        asio::post(executor_, [self = shared_from_this()] {
            if (self->done_) self->done_.abort();
            self->end_gate();
        });
    }

  private:
    // A coroutine around the call, so that a gate which throws before it waits is no other case.
    static awaitable<GateDecision> ask(std::shared_ptr<GateRace> race) {
        co_return co_await (*race->gate_)(race->request_);
    }

    void start_gate() {
        asio::co_spawn(
            executor_, ask(shared_from_this()),
            asio::bind_cancellation_slot(
                signal_.slot(), [self = shared_from_this()](std::exception_ptr error, GateDecision decision) {
                    self->timer_.cancel();
                    if (!self->done_) return;  // too late
                    if (error) return self->done_.fail(std::move(error));
                    self->done_.succeed(std::move(decision));
                }));
    }

    void start_timer() {
        timer_.expires_after(*timeout_);
        timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
            if (error || !self->done_) return;
            self->done_.succeed(GateTimedOut{});
            self->end_gate();
        });
    }

    void end_gate() {
        timer_.cancel();
        signal_.emit(asio::cancellation_type::terminal);
    }

    const asio::any_io_executor executor_;
    const std::shared_ptr<const Gate> gate_;
    const ToolRequest request_;
    const std::optional<std::chrono::nanoseconds> timeout_;
    asio::steady_timer timer_;
    asio::cancellation_signal signal_;
    Completion<GateDecision> done_;
};

}  // namespace

awaitable<GateDecision> ask_gate(std::shared_ptr<const Gate> gate, ToolRequest request,
                                 std::optional<std::chrono::nanoseconds> timeout) {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    auto race = std::make_shared<GateRace>(executor, std::move(gate), std::move(request), timeout);
    detail::OnCancel<GateDecision> on_cancel;
    // Weak, and nothing of it stays here: the race keeps this coroutine.
    on_cancel.cancel = [weak = std::weak_ptr(race)] {
        if (const auto asked = weak.lock()) asked->cancel();
    };
    // The cancelled caller has stopped looking: an approval that comes with it must run nothing.
    on_cancel.give_back = [](const GateDecision&) {};
    std::function<void(Completion<GateDecision>)> begin =
        [asked = std::move(race)](Completion<GateDecision> done) { asked->begin(std::move(done)); };
    co_return co_await detail::await_completion<GateDecision>(std::move(begin), std::move(on_cancel));
}

}  // namespace sandpipe::tool
