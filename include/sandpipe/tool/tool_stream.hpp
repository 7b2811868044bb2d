#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/output_event.hpp>
#include <sandpipe/tool/tool_result.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace sandpipe {

namespace tool {
class StreamState;
}

/// A tool's command under way. Movable; one operation at a time. The destructor stops the command without
/// waiting.
class ToolStream {
  public:
    /// Empty, to be assigned to; its operations throw `Error` E_SANDBOX_NOT_INITIALIZED.
    ToolStream() noexcept = default;
    ToolStream(ToolStream&&) noexcept = default;
    ToolStream& operator=(ToolStream&&) noexcept = default;
    ToolStream(const ToolStream&) = delete;
    ToolStream& operator=(const ToolStream&) = delete;

    /// The next event, for the host: as the command's own stream has it, paths not redacted. The last one is
    /// `Finished`, then nullopt. A host that does not ask makes the command wait. Cancellation throws
    /// operation_aborted and loses no event; the command runs on.
    awaitable<std::optional<OutputEvent>> next();

    /// Takes the events that are left and returns what a model gets. Cancellation stops the command (a second
    /// one kills it), and the result comes with cause `cancelled`. May be called again: the same result.
    awaitable<ToolResult> finish();

    /// Starts the stop policy; a second call kills at once. Returns at once.
    void stop();

    /// Filled by `next` and `finish`; may be read from any thread, also after the stream has gone. Null if
    /// empty.
    [[nodiscard]] std::shared_ptr<const SpooledArtifact> artifact() const;
    /// The random number in this command's markers.
    [[nodiscard]] std::string_view marker() const noexcept;
    /// As in log records, audit events and the summary's command_id.
    [[nodiscard]] std::uint64_t id() const noexcept;

    /// For the library's own parts.
    explicit ToolStream(std::shared_ptr<tool::StreamState> state) noexcept : state_(std::move(state)) {}

  private:
    [[nodiscard]] const std::shared_ptr<tool::StreamState>& state() const;

    std::shared_ptr<tool::StreamState> state_;
};

}  // namespace sandpipe
