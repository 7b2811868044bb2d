#pragma once

#include <sandpipe/command_stream.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/tool/tool_result.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "audit_relay.hpp"
#include "own_task.hpp"
#include "transcript.hpp"

namespace sandpipe::tool {

struct StreamParts {
    std::shared_ptr<SandboxEnforcer>
        session;  ///< kept until the command has ended, if it is not the tool's own
    std::string program;
    std::string call_id;
    std::size_t text_limit = 0;
    std::shared_ptr<const PathRedactor> redactor;
    std::shared_ptr<SpooledArtifact> artifact;
    std::vector<std::string> told_warnings;  ///< the sinks know of these already, as `Weaker`
};

/// A command's stream, and what becomes of its events.
class StreamState : public std::enable_shared_from_this<StreamState> {
  public:
    StreamState(CommandStream stream, StreamParts parts, AuditRelay sinks);
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;
    ~StreamState();

    awaitable<std::optional<OutputEvent>> next();
    void stop() { stream_.stop(); }
    [[nodiscard]] ToolResult result() const { return transcript_.result(); }

    [[nodiscard]] const CommandStream& stream() const noexcept { return stream_; }
    [[nodiscard]] const std::shared_ptr<SpooledArtifact>& artifact() const noexcept {
        return transcript_.artifact();
    }

  private:
    awaitable<void> keep(std::string text);
    void tell(const OutputEvent& event) const;

    CommandStream stream_;
    std::shared_ptr<SandboxEnforcer> session_;
    const std::string program_;
    const std::vector<std::string> told_warnings_;
    const AuditRelay sinks_;
    Transcript transcript_;
};

/// Takes the events that are left. To be run as `task`, whose cancellation stops the command.
awaitable<ToolResult> drain(std::shared_ptr<StreamState> state, std::shared_ptr<OwnTask> task);

}  // namespace sandpipe::tool
