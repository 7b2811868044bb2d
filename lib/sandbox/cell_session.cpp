#include "sandbox/cell_session.hpp"

#include <sandpipe/error.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "process/timed_wait.hpp"
#include "sandbox/cell_failure.hpp"
#include "sandbox/given_up.hpp"
#include "sandbox/policy/mount_layout.hpp"
#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "sandbox/stream_place.hpp"
#include "sys/descriptors.hpp"
#include "wire/messages.hpp"

namespace sandpipe {
namespace {

using detail::PacketChannel;

/// The cell's one message; absent: it went away.
using Answer = std::optional<wire::Packet>;

class AnswerWait final : public detail::TimedWait<Answer> {
  public:
    AnswerWait(const asio::any_io_executor& executor, std::shared_ptr<PacketChannel> channel)
        : TimedWait(executor), channel_(std::move(channel)) {}

  private:
    void begin() override {
        channel_->receive([self = self()](wire::Packet* packet) {
            auto answer = std::make_shared<Answer>();
            if (packet) *answer = std::move(*packet);
            asio::post(self->strand(), [self, answer] { self->finish(std::move(*answer)); });
        });
    }

    /// A cell that nobody waits for ends, and with it what it still waits for itself.
    void end(bool answered) override {
        if (!answered) channel_->shut_down();
    }

    [[nodiscard]] std::shared_ptr<AnswerWait> self() {
        return std::static_pointer_cast<AnswerWait>(shared_from_this());
    }

    const std::shared_ptr<PacketChannel> channel_;
};

/// No coroutine: its frame would keep the wait, which keeps the frame.
awaitable<std::optional<Answer>> await_answer(const asio::any_io_executor& executor,
                                              std::shared_ptr<PacketChannel> channel, std::chrono::nanoseconds limit) {
    return AnswerWait::run(std::make_shared<AnswerWait>(executor, std::move(channel)), limit);
}

wire::EnforcementFacts facts_from(const std::optional<Answer>& in_time, bool weaker) {
    if (!in_time)
        throw Error(Errc::sandbox_failed,
                    "the sandbox's cell did not answer in time: a file system below what the policy names may hang");
    const Answer& answer = *in_time;
    if (!answer) throw Error(Errc::sandbox_failed, "the sandbox's cell ended before it answered");
    wire::CellReady ready;
    wire::Failure failure;
    if (wire::decode(answer->bytes, ready)) return ready.facts;
    if (wire::decode(answer->bytes, failure)) throw_cell_failure(failure, weaker);
    throw Error(Errc::sandbox_failed, "the sandbox's cell answered with a message of another protocol");
}

/// A list of denials that looks complete and is not would mislead.
std::vector<std::string> notices_of(const wire::EnforcementFacts& facts, const wire::SessionPlan& plan) {
    std::vector<std::string> notices = describe(facts.given_up);
    const bool told = std::any_of(facts.given_up.begin(), facts.given_up.end(), [](const wire::GivenUp& given) {
        return given.mechanism == "denials" || given.mechanism == "proc";
    });
    if (plan.rules.enabled && !facts.denials && !told)
        notices.emplace_back("denials are partial: refused calls fail, but this machine does not let them be reported");
    return notices;
}

}  // namespace

awaitable<CellStart> start_cell(std::shared_ptr<detail::RuntimeCore> runtime, const wire::SessionPlan& plan,
                                std::chrono::nanoseconds limit) {
    sys::SocketPair pair;
    if (const int error = sys::make_socket_pair(pair); error < 0)
        throw Error(Errc::sandbox_failed,
                    std::string("no socket for the sandbox's cell: ") + std::strerror(-error) +
                        "; see ulimit -n and ulimit -u");
    CellStart start;
    start.channel = PacketChannel::open(runtime->executor(), pair.first);
    std::vector<unique_fd> fds;
    fds.push_back(std::move(pair.second));
    wire::MakeCell request;
    request.plan = plan;
    const detail::LauncherHandle launcher = runtime->launcher();
    launcher.control->send(wire::encode(request), std::move(fds));
    start.launcher = launcher.pid;
    std::optional<Answer> answer = co_await await_answer(runtime->executor(), start.channel, limit);
    start.facts = facts_from(answer, plan.allow_weaker);
    start.listeners = std::move((*answer)->fds);
    if (start.listeners.size() != plan.proxy_ports.size())
        throw Error(Errc::sandbox_failed, "the sandbox's cell sent other sockets than it was asked for");
    co_return start;
}

CellSession::CellSession(std::shared_ptr<detail::RuntimeCore> runtime, CellStart start,
                         const CompiledPolicy& policy, SessionEnvironment environment)
    : runtime_(std::move(runtime)),
      channel_(std::move(start.channel)),
      // The helper's own image, by the one name that other processes of this user can execute wherever it came from.
      entrance_(std::make_shared<Entrance>(runtime_, "/proc/" + std::to_string(start.launcher) + "/exe")),
      environment_(std::move(environment)),
      workspace_(policy.plan.workspace),
      rules_(std::make_shared<const wire::AccessRules>(policy.plan.rules)),
      tmp_(policy.tmp),
      roots_(rules_->writable_roots()),
      stream_places_(session_stream_places(rules_, policy.written)),
      denials_complete_(start.facts.denials && policy.plan.rules.enabled),
      notices_(notices_of(start.facts, policy.plan)),
      id_(runtime_->next_id()) {}

std::string CellSession::hidden_hint(const std::string& path) const {
    const bool in_tmp = !tmp_.empty() && (wire::holds(kTmp, path) || wire::holds(tmp_, path));
    if (!in_tmp || path == kTmp || path == tmp_ || is_granted_within(*rules_, tmp_, path)) return {};
    return "the session has a /tmp of its own, which shows what the host has there only where the policy grants it "
           "(filesystem.allowRead)";
}

CellSession::~CellSession() {
    entrance_->close();
    if (proxies_) proxies_->close({});
    channel_->shut_down();
    runtime_->forget(id_);
}

void CellSession::request_end() {
    closed_ = true;
    entrance_->close();
    channel_->shut_down();
    const auto leave = [runtime = runtime_, id = id_] { runtime->leave(id); };
    if (proxies_)
        proxies_->close(leave);
    else
        leave();
}

void CellSession::command_ended() {
    if (proxies_) proxies_->check_for_clients();
}

void CellSession::release_io() noexcept {
    if (proxies_) proxies_->release_io();
    entrance_->release_io();
    channel_->release_io();
}

void CellSession::serve_proxies(std::vector<unique_fd> listeners, DomainRules rules, const ProxySettings& settings) {
    ProxyContext context;
    context.rules = std::move(rules);
    context.resolver = settings.resolver;
    context.limits = settings.limits;
    context.commands = [runtime = runtime_, weak = weak_from_this()] {
        const auto session = weak.lock();
        return session ? runtime->commands_of(*session) : Suspects{};
    };
    context.log = [runtime = runtime_](LogLevel level, const std::string& text) { runtime->log(level, 0, text); };
    proxies_ = std::make_shared<ProxyServer>(runtime_->executor(), std::move(context));
    proxies_->open(std::move(listeners[0]), std::move(listeners[1]));
}

}  // namespace sandpipe
