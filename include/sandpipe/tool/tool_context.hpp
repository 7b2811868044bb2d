#pragma once

#include <sandpipe/audit.hpp>
#include <sandpipe/policy.hpp>
#include <sandpipe/tool/spooled_artifact.hpp>

#include <memory>
#include <optional>
#include <string>

namespace sandpipe {

/// What the host adds to one call of a tool; the model has no say in it.
struct ToolContext {
    /// The host's own name for the call, such as the model's tool_use id: in the gate's request and the
    /// summary.
    std::string call_id;
    /// The whole policy for this call instead of the session's, which it can only narrow: the call runs in a
    /// session of its own, made for it and closed after it. What would widen is an error result of `call` and
    /// an `Error` of `start`: E_SANDBOX_POLICY_CONFLICT. Absent: the session as it is.
    std::optional<SandboxPolicy> policy;
    /// Gets the audit events of this call, after the tool's own sink.
    AuditSink on_sandbox;
    /// Where the output goes; the host can read it while the command runs. For one call only: one that has
    /// content or is finished is refused with E_INVALID_SANDBOX_CONFIG. Null: the tool makes one.
    std::shared_ptr<SpooledArtifact> artifact;
};

}  // namespace sandpipe
