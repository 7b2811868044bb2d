#pragma once

#include <sandpipe/error.hpp>
#include <sandpipe/tool/path_translator.hpp>
#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "audit_relay.hpp"
#include "path_redactor.hpp"
#include "stream_state.hpp"

namespace sandpipe::tool {

/// Why a call runs nothing.
struct Refusal {
    Errc code = Errc::sandbox_refused;
    std::string text;  ///< for a model, redacted
    std::string gate;  ///< what the gate answered; "" if it was not asked
};

/// A call that may be started.
struct Ready {
    std::shared_ptr<SandboxEnforcer> session;
    BinaryInvocation invocation;
};

using Prepared = std::variant<Refusal, Ready>;

/// What the tool and the calls that outlive it share. Thread-safe.
class ToolCore {
  public:
    explicit ToolCore(RunShellCommandToolOptions options);

    /// Everything up to the start, in the tool's order. Throws `Error` E_INVALID_SANDBOX_CONFIG for the
    /// context's artifact. Cancellation throws operation_aborted; nothing was started.
    awaitable<Prepared> prepare(nlohmann::json input, ToolContext context) const;
    /// Starts what was prepared, as `SandboxEnforcer::run`.
    awaitable<std::shared_ptr<StreamState>> begin(Ready ready, ToolContext context) const;

    [[nodiscard]] std::uint64_t sink_failures() const noexcept { return *sink_failures_; }

  private:
    using Asked = std::variant<Refusal, ToolRequest>;
    using Found = std::variant<Refusal, std::shared_ptr<SandboxEnforcer>>;

    [[nodiscard]] Asked checked_request(const nlohmann::json& input, const ToolContext& context) const;
    awaitable<std::variant<Refusal, std::string>> checked_cwd(std::string cwd) const;
    void check_open() const;
    awaitable<Found> session_for(ToolContext context) const;
    awaitable<Found> narrowed(SandboxPolicy policy, ToolContext context, std::string what) const;
    [[nodiscard]] SandboxPolicy policy_for(const ToolContext& context) const;
    [[nodiscard]] Refusal narrowing_refused(const Error& error, const ToolContext& context) const;
    [[nodiscard]] BinaryInvocation invocation_for(const SandboxEnforcer& session, const ToolRequest& request,
                                                  std::string cwd) const;
    [[nodiscard]] AuditRelay relay(const ToolContext& context) const;

    const RunShellCommandToolOptions options_;
    const SpooledArtifact artifacts_;  // what each call's is another of
    const std::shared_ptr<const Gate> gate_;
    const std::shared_ptr<const PathTranslator> paths_;
    const std::shared_ptr<const PathRedactor> redactor_;
    const std::vector<std::string> programs_;  // allowed_commands, located
    const std::shared_ptr<std::atomic<std::uint64_t>> sink_failures_;

    mutable std::atomic<bool> told_weaker_{false};
    mutable std::mutex mutex_;
    mutable std::shared_ptr<SandboxEnforcer>
        allowed_only_;  // the session for allowed_commands, once there is one
};

}  // namespace sandpipe::tool
