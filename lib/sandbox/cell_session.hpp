#pragma once

#include <sandpipe/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process/runtime_core.hpp"
#include "process/session.hpp"
#include "sandbox/entrance.hpp"
#include "sandbox/network/proxy_server.hpp"
#include "sandbox/policy/compile.hpp"
#include "sandbox/session_environment.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe {

/// What a cell said of itself once it stood.
struct CellStart {
    std::shared_ptr<detail::PacketChannel> channel;
    wire::EnforcementFacts facts;
    pid_t launcher = -1;  ///< below which it is
    std::vector<unique_fd> listeners;  ///< of the plan's proxy ports
};

/// Has a launcher make a cell from `plan` and waits for it, at most for `limit`. Throws `Error`
/// E_SANDBOX_UNSUPPORTED_ENV where the machine refuses a mechanism, with the remedy, and E_SANDBOX_FAILED for
/// every other failed step. Cancellation ends the cell and throws operation_aborted.
awaitable<CellStart> start_cell(std::shared_ptr<detail::RuntimeCore> runtime, const wire::SessionPlan& plan,
                                std::chrono::nanoseconds limit);

/// How a session's proxies work, where a test wants it otherwise.
struct ProxySettings {
    std::shared_ptr<Resolver> resolver = system_resolver();
    ProxyLimits limits;
};

/// A session's cell as its commands need it. The cell ends when this object goes, or at close.
class CellSession final : public detail::Session,
                          public detail::RuntimeMember,
                          public std::enable_shared_from_this<CellSession> {
  public:
    CellSession(std::shared_ptr<detail::RuntimeCore> runtime, CellStart start, const CompiledPolicy& policy,
                SessionEnvironment environment);
    ~CellSession() override;

    [[nodiscard]] const std::shared_ptr<detail::PacketChannel>& channel() const noexcept override {
        return channel_;
    }
    [[nodiscard]] std::vector<std::string> environment(
        const std::optional<Environment>& overlay) const override {
        return session_environment(environment_, overlay);
    }
    [[nodiscard]] const std::string& workspace() const noexcept override { return workspace_; }
    [[nodiscard]] const std::vector<std::string>& writable_roots() const noexcept override { return roots_; }
    [[nodiscard]] wire::Verdict write_verdict(const std::string& path) const override { return rules_->write(path); }
    [[nodiscard]] const std::shared_ptr<const detail::StreamPlaces>& stream_places() const noexcept override {
        return stream_places_;
    }
    [[nodiscard]] bool denials_complete() const noexcept override { return denials_complete_; }
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept override { return notices_; }
    [[nodiscard]] std::string hidden_hint(const std::string& path) const override;
    [[nodiscard]] bool closed() const noexcept override { return closed_; }
    void command_ended() override;

    [[nodiscard]] bool is_command() const noexcept override { return false; }
    [[nodiscard]] const Session* session() const noexcept override { return nullptr; }
    void request_end() override;
    void release_io() noexcept override;
    [[nodiscard]] std::optional<detail::Redeemed> redeem(const std::vector<std::string>& argv) override {
        return entrance_->redeem(argv);
    }
    /// Serves the cell's proxy ports, until the session ends. Once, before its first command.
    void serve_proxies(std::vector<unique_fd> listeners, DomainRules rules, const ProxySettings& settings);

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// New commands are refused from now on.
    void refuse_starts() noexcept { closed_ = true; }
    /// Where commands come in that other executors start.
    [[nodiscard]] Entrance& entrance() const noexcept { return *entrance_; }

  private:
    const std::shared_ptr<detail::RuntimeCore> runtime_;
    const std::shared_ptr<detail::PacketChannel> channel_;
    const std::shared_ptr<Entrance> entrance_;
    const SessionEnvironment environment_;
    const std::string workspace_;
    const std::shared_ptr<const wire::AccessRules> rules_;
    const std::string tmp_;  ///< where it has a /tmp of its own; empty: nowhere
    const std::vector<std::string> roots_;
    const std::shared_ptr<const detail::StreamPlaces> stream_places_;
    const bool denials_complete_;
    const std::vector<std::string> notices_;
    const std::uint64_t id_;
    std::atomic<bool> closed_{false};
    std::shared_ptr<ProxyServer> proxies_;  // none without domain rules
};

}  // namespace sandpipe
