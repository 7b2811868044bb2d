#include "cell_session.hpp"

#include <sandpipe/error.hpp>

#include <asio/bind_executor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "process/completion.hpp"
#include "sandbox/cell_failure.hpp"
#include "sandbox/given_up.hpp"
#include "sandbox/path_facts.hpp"
#include "sandbox/stream_place.hpp"
#include "sys/descriptors.hpp"
#include "wire/messages.hpp"

namespace sandpipe {
namespace {

using detail::Completion;
using detail::OnCancel;
using detail::PacketChannel;

/// What came of waiting: a packet, or nothing when the cell went away.
struct Answer {
    std::optional<wire::Packet> packet;
    bool timed_out = false;
};

/// Waits for the cell's one message, on a strand of its own.
class AnswerWait : public std::enable_shared_from_this<AnswerWait> {
  public:
    AnswerWait(const asio::any_io_executor& executor, std::shared_ptr<PacketChannel> channel)
        : strand_(asio::make_strand(executor)), channel_(std::move(channel)), timer_(strand_) {}

    void begin(Completion<Answer> done, std::chrono::nanoseconds limit) {
        auto waiting = std::make_shared<Completion<Answer>>(std::move(done));
        asio::post(strand_, [self = shared_from_this(), waiting, limit] {
            self->done_ = std::move(*waiting);
            self->timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit));
            self->timer_.async_wait(asio::bind_executor(self->strand_, [self](const std::error_code& error) {
                Answer late;
                late.timed_out = true;
                if (!error) self->finish(std::move(late));
            }));
            self->channel_->receive([self](wire::Packet* packet) { self->take(packet); });
        });
    }

    void cancel() {
        asio::post(strand_, [self = shared_from_this()] {
            self->channel_->shut_down();
            if (self->done_) self->done_.abort();
            self->timer_.cancel();
        });
    }

  private:
    void take(wire::Packet* packet) {
        auto answer = std::make_shared<Answer>();
        if (packet) answer->packet = std::move(*packet);
        asio::post(strand_, [self = shared_from_this(), answer] { self->finish(std::move(*answer)); });
    }

    void finish(Answer answer) {
        timer_.cancel();
        if (done_) done_.succeed(std::move(answer));
    }

    asio::strand<asio::any_io_executor> strand_;
    std::shared_ptr<PacketChannel> channel_;
    asio::steady_timer timer_;
    Completion<Answer> done_;
};

awaitable<Answer> wait_for_answer(const asio::any_io_executor& executor,
                                  std::shared_ptr<PacketChannel> channel, std::chrono::nanoseconds limit) {
    auto wait = std::make_shared<AnswerWait>(executor, std::move(channel));
    std::function<void(Completion<Answer>)> begin = [wait, limit](Completion<Answer> done) {
        wait->begin(std::move(done), limit);
    };
    OnCancel<Answer> on_cancel;
    // Weak: the slot lives in the coroutine that `wait` keeps.
    on_cancel.cancel = [weak = std::weak_ptr(wait)] {
        if (const auto waiting = weak.lock()) waiting->cancel();
    };
    return detail::await_completion<Answer>(std::move(begin), std::move(on_cancel));
}

wire::EnforcementFacts facts_from(const Answer& answer, bool weaker) {
    if (answer.timed_out)
        throw Error(Errc::sandbox_failed,
                    "the sandbox's cell did not answer in time: a file system below what the policy names may hang");
    if (!answer.packet) throw Error(Errc::sandbox_failed, "the sandbox's cell ended before it answered");
    wire::CellReady ready;
    wire::Failure failure;
    if (wire::decode(answer.packet->bytes, ready)) return ready.facts;
    if (wire::decode(answer.packet->bytes, failure)) throw_cell_failure(failure, weaker);
    throw Error(Errc::sandbox_failed, "the sandbox's cell answered with a message of another protocol");
}

}  // namespace

awaitable<CellStart> start_cell(std::shared_ptr<detail::RuntimeCore> runtime, const wire::SessionPlan& plan,
                                std::chrono::nanoseconds limit) {
    sys::SocketPair pair;
    if (const int error = sys::make_socket_pair(pair); error < 0)
        throw Error(Errc::sandbox_failed,
                    std::string("no socket for the sandbox's cell: ") + std::strerror(-error));
    CellStart start;
    start.channel = PacketChannel::open(runtime->executor(), std::move(pair.first));
    std::vector<unique_fd> fds;
    fds.push_back(std::move(pair.second));
    wire::MakeCell request;
    request.plan = plan;
    const detail::LauncherHandle launcher = runtime->launcher();
    launcher.control->send(wire::encode(request), std::move(fds));
    start.launcher = launcher.pid;
    Answer answer = co_await wait_for_answer(runtime->executor(), start.channel, limit);
    start.facts = facts_from(answer, plan.allow_weaker);
    start.listeners = std::move(answer.packet->fds);
    if (start.listeners.size() != plan.proxy_ports.size())
        throw Error(Errc::sandbox_failed, "the sandbox's cell sent other sockets than it was asked for");
    co_return start;
}

CellSession::CellSession(std::shared_ptr<detail::RuntimeCore> runtime, CellStart start,
                         const wire::SessionPlan& plan, SessionEnvironment environment)
    : runtime_(std::move(runtime)),
      channel_(std::move(start.channel)),
      // The helper's own image, by the one name that other processes of this user can execute wherever it came from.
      entrance_(std::make_shared<Entrance>(runtime_, "/proc/" + std::to_string(start.launcher) + "/exe")),
      environment_(std::move(environment)),
      workspace_(plan.workspace),
      rules_(plan.rules),
      roots_(rules_.writable_roots()),
      denials_complete_(start.facts.denials && plan.rules.enabled),
      notices_(describe(start.facts.given_up)),
      id_(runtime_->next_id()) {}

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

detail::StreamPlace CellSession::stream_place(const std::string& path, bool writes) const {
    std::vector<std::string> trees = roots_;
    trees.push_back(workspace_);
    return find_stream_place(path, writes, rules_, trees, HostPathFacts());
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
