#include <sandpipe/tool/tool_stream.hpp>

#include <sandpipe/error.hpp>

#include "stream_state.hpp"

namespace sandpipe {

const std::shared_ptr<tool::StreamState>& ToolStream::state() const {
    if (!state_)
        throw Error(Errc::sandbox_not_initialized,
                    "the ToolStream is empty: it was moved from, or never assigned");
    return state_;
}

awaitable<std::optional<OutputEvent>> ToolStream::next() { return state()->next(); }

awaitable<ToolResult> ToolStream::finish() {
    std::function<awaitable<ToolResult>(std::shared_ptr<tool::OwnTask>)> work =
        [state = state()](std::shared_ptr<tool::OwnTask> task) {
            return tool::drain(state, std::move(task));
        };
    return tool::run_apart<ToolResult>(std::move(work));
}

void ToolStream::stop() { state()->stop(); }

std::shared_ptr<const SpooledArtifact> ToolStream::artifact() const {
    return state_ ? state_->artifact() : nullptr;
}
std::string_view ToolStream::marker() const noexcept {
    return state_ ? state_->stream().marker() : std::string_view();
}
std::uint64_t ToolStream::id() const noexcept { return state_ ? state_->stream().id() : 0; }

}  // namespace sandpipe
