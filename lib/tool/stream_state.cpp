#include "stream_state.hpp"

#include <asio/this_coro.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <system_error>
#include <utility>

#include "overloaded.hpp"
#include "process/aside.hpp"
#include "process/shielded.hpp"

namespace sandpipe::tool {
namespace {

constexpr std::chrono::seconds kMostWriting{10};
constexpr const char* kLate = "its file could not be written in time: a file system hangs";

}  // namespace

awaitable<ToolResult> drain(std::shared_ptr<StreamState> state, std::shared_ptr<OwnTask> task) {
    // Weak: the command's core keeps this coroutine while it waits.
    task->on_cancel([weak = std::weak_ptr(state)] {
        if (const auto running = weak.lock()) running->stop();
    });
    co_await asio::this_coro::throw_if_cancelled(false);
    while (co_await state->next()) continue;
    co_return state->result();
}

StreamState::StreamState(CommandStream stream, StreamParts parts, AuditRelay sinks)
    : stream_(std::move(stream)),
      session_(std::move(parts.session)),
      program_(std::move(parts.program)),
      told_warnings_(std::move(parts.told_warnings)),
      sinks_(std::move(sinks)),
      transcript_(CallFacts{std::move(parts.call_id), stream_.id()}, std::string(stream_.marker()),
                  parts.text_limit, std::move(parts.redactor), std::move(parts.artifact)) {}

StreamState::~StreamState() { transcript_.artifact()->finish(); }

awaitable<std::optional<OutputEvent>> StreamState::next() {
    const auto self = shared_from_this();
    std::optional<OutputEvent> event = co_await stream_.next();
    if (!event) co_return event;
    std::string text = transcript_.take(*event);
    co_await keep(std::move(text));
    tell(*event);
    if (std::holds_alternative<Finished>(*event)) {
        artifact()->finish();
        session_.reset();
    }
    co_return event;
}

/// What goes to a file is written aside: its disk may be slow, or hang. The event has been taken and is to be
/// returned, so no cancellation comes in between.
awaitable<void> StreamState::keep(std::string text) {
    const std::shared_ptr<SpooledArtifact> artifact = transcript_.artifact();
    if (!artifact->would_write(text.size())) co_return artifact->append(text);
    std::function<void()> work = [artifact, text = std::move(text)] { artifact->append(text); };
    asio::any_io_executor executor = co_await asio::this_coro::executor;
    try {
        co_await detail::shielded(detail::run_aside(std::move(executor), std::move(work), kMostWriting, kLate));
    } catch (const std::system_error& error) {
        artifact->give_up(error.what());
    }
}

void StreamState::tell(const OutputEvent& event) const {
    const std::uint64_t id = stream_.id();
    const Overloaded cases{
        [](const OutputChunk&) {},
        [&](const Denial& denial) { sinks_.tell(id, DeniedAct{denial}); },
        [&](const Warning& warning) {
            const bool told = std::find(told_warnings_.begin(), told_warnings_.end(), warning.text) !=
                              told_warnings_.end();
            if (!told) sinks_.tell(id, PolicyWarning{warning.text});
        },
        [&](const Finished& end) {
            if (const auto* start = std::get_if<NotStarted>(&end.result.status))
                sinks_.tell(id, StartFailed{program_, *start});
        },
    };
    std::visit(cases, event);
}

}  // namespace sandpipe::tool
