#include "sandbox/network/proxy_connection.hpp"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <asio/buffer.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <system_error>
#include <utility>

#include "sandbox/network/endpoints.hpp"
#include "sandbox/network/http_proxy.hpp"
#include "sandbox/network/own_addresses.hpp"
#include "sandbox/network/socket_ends.hpp"
#include "sandbox/network/socket_options.hpp"
#include "sandbox/network/socks_proxy.hpp"

namespace sandpipe {
namespace {

using asio::experimental::awaitable_operators::operator||;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::chrono::nanoseconds kSoon = std::chrono::milliseconds{200};

detail::SocketEnds ends_of(const ProxySocket& client) {
    std::error_code error;
    const auto peer = client.remote_endpoint(error);
    const auto own = client.local_endpoint(error);
    if (error || !peer.address().is_v4()) return {};
    return {htonl(peer.address().to_v4().to_uint()), peer.port(), own.port()};
}

Denial denial_for(const Destination& destination, const DomainVerdict& verdict, std::string resolved) {
    Denial denial;
    denial.kind = DenialKind::domain;
    denial.operation = "connect";
    denial.host = destination.host.name;
    denial.port = destination.port;
    denial.resolved = std::move(resolved);
    denial.error = EACCES;
    denial.rule = verdict.rule;
    denial.reason = verdict.reason;
    return denial;
}

std::string refusal_text(const Destination& destination, const DomainVerdict& verdict) {
    std::string text = "the policy of this sandbox does not allow " + destination.text();
    if (!verdict.rule.empty()) text += " (rule: " + verdict.rule + ")";
    if (verdict.reason) text += ": " + *verdict.reason;
    return text;
}

DialFailure denied(const Destination& destination, const DomainVerdict& verdict) {
    return {DialFailure::Kind::denied, refusal_text(destination, verdict), {}};
}

/// Asks the commands whose connection it was; completes when one has it, and the denial in its stream if there is one,
/// or when none does.
awaitable<bool> find_owner(Suspects suspects, std::optional<Denial> denial, detail::SocketEnds ends) {
    std::vector<std::shared_ptr<detail::RuntimeMember>> commands;
    for (const auto& suspect : suspects)
        if (auto command = suspect.lock()) commands.push_back(std::move(command));
    auto found = std::make_shared<std::weak_ptr<detail::SocketSearch>>();
    std::function<void(detail::Completion<bool>)> begin = [commands = std::move(commands), denial = std::move(denial),
                                                           ends, found](detail::Completion<bool> done) {
        const auto search =
            std::make_shared<detail::SocketSearch>(denial, ends, commands.size(), std::move(done));
        *found = search;
        if (commands.empty()) search->not_found();
        for (const auto& command : commands) command->look_for_socket(search);
    };
    detail::OnCancel<bool> on_cancel;
    on_cancel.cancel = [found] {
        if (const auto search = found->lock()) search->abort();
    };
    return detail::await_completion<bool>(std::move(begin), std::move(on_cancel));
}

/// RFC 6761: a name that is never asked for, because it can mean nothing else.
std::vector<IpAddress> loopback_addresses() {
    return {IpAddress(IpAddress::V4{127, 0, 0, 1}), *IpAddress::parse("::1")};
}

/// Without exceptions, because who waits for the first of two would wait on for the other.
awaitable<void> look_up(std::shared_ptr<Resolver> resolver, std::string name, std::vector<IpAddress>& addresses,
                        std::string& problem) {
    try {
        addresses = co_await resolver->resolve(std::move(name));
        problem = "it has no address";
    } catch (const std::system_error& error) {
        const bool timed_out = error.code() == asio::error::operation_aborted;
        problem = timed_out ? "no answer in time" : error.code().message();
    }
}

}  // namespace

awaitable<void> write_all(ProxySocket& socket, std::string_view bytes) {
    const auto buffer = asio::buffer(bytes.data(), bytes.size());
    co_await asio::async_write(socket, buffer, asio::use_awaitable);
}

std::size_t append_available(ProxySocket& socket, std::string& buffer, std::error_code& error) {
    const std::size_t before = buffer.size();
    // At least one byte: what is readable and has none is at its end.
    const std::size_t size = std::clamp(socket.available(error), std::size_t{1}, kReadBytes);
    if (error) return 0;
    buffer.resize(before + size);
    const std::size_t read = socket.read_some(asio::buffer(buffer.data() + before, size), error);
    buffer.resize(before + read);
    return read;
}

ProxyConnection::ProxyConnection(std::shared_ptr<const ProxyContext> shared_context, ProxyStrand strand,
                                 ProxySocket client)
    : context_(std::move(shared_context)),
      strand_(std::move(strand)),
      client_(std::move(client)),
      upstream_(strand_),
      orphan_check_(strand_),
      suspects_(context_->commands()) {
    set_options(client_);
    keep_queue_short(client_);
}

awaitable<void> ProxyConnection::serve(ProxyProtocol protocol) {
    std::exception_ptr failure;
    co_await (serve_protocol(protocol, failure) || wait_until_orphaned());
    if (failure) std::rethrow_exception(failure);
}

/// Without exceptions, because who waits for the first of two would wait on for the other.
awaitable<void> ProxyConnection::serve_protocol(ProxyProtocol protocol, std::exception_ptr& failure) {
    try {
        if (protocol == ProxyProtocol::http)
            co_await serve_http(*this);
        else
            co_await serve_socks(*this);
    } catch (...) {
        failure = std::current_exception();
    }
}

void ProxyConnection::cancel() {
    asio::post(strand_, [self = shared_from_this()] { self->cancellation_.emit(asio::cancellation_type::terminal); });
}

void ProxyConnection::check_for_client() {
    asio::post(strand_, [self = shared_from_this()] {
        if (self->gone_) return;  // it is looked at again soon, and not at once
        self->check_wanted_ = true;
        self->orphan_check_.cancel();
    });
}

/// It is quiet twice, because what is on its way from one socket to the other is in neither. The first look comes soon:
/// a connection may have waited until after the end of its command. What a process sent before its end may still be
/// behind, and the end of its stream behind that.
awaitable<void> ProxyConnection::wait_until_orphaned() {
    bool was_quiet = false;
    for (bool soon = true;; soon = gone_) {
        // Already over, if a check is wanted.
        orphan_check_.expires_after(check_wanted_ ? kSoon.zero() : soon ? kSoon : context_->limits.orphan_check);
        std::error_code woken;
        co_await orphan_check_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
        const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
        if (cancelled != asio::cancellation_type::none) co_return;
        bool gone = may_be_gone();
        if (gone) gone = co_await client_is_gone();
        gone_ = gone;
        const bool quiet = gone && peer_has_ended(client_) && all_has_arrived();
        if (quiet && was_quiet) co_return;
        was_quiet = quiet;
    }
}

/// Whether it is worth the question.
bool ProxyConnection::may_be_gone() {
    const bool wanted = std::exchange(check_wanted_, false);
    return wanted || gone_ || peer_has_ended(client_) || context_->commands().empty();
}

/// None of the commands that run in the session has its socket.
awaitable<bool> ProxyConnection::client_is_gone() {
    Suspects running = context_->commands();
    const bool found = co_await find_owner(std::move(running), std::nullopt, ends_of(client_));
    co_return !found;
}

/// Nothing of what the client sent is still to be read here, or by the other side.
bool ProxyConnection::all_has_arrived() {
    std::error_code error;
    if (client_.available(error) > 0) return false;
    (void)upstream_.remote_endpoint(error);
    int unread_there = 0;
    return !error && ::ioctl(upstream_.native_handle(), SIOCOUTQ, &unread_there) == 0 && unread_there == 0;
}

awaitable<std::optional<DialFailure>> ProxyConnection::dial(Destination destination) {
    const DomainVerdict verdict = context_->rules.judge(destination);
    if (!verdict.allowed) {
        co_await report(destination, verdict, {});
        co_return denied(destination, verdict);
    }
    std::vector<IpAddress> addresses;
    if (destination.host.address)
        addresses.push_back(*destination.host.address);
    else if (destination.host.name == "localhost")
        addresses = loopback_addresses();
    else if (auto failure = co_await resolve(destination.host.name, addresses))
        co_return failure;
    co_return co_await dial_addresses(std::move(destination), std::move(addresses));
}

awaitable<std::optional<DialFailure>> ProxyConnection::resolve(std::string name, std::vector<IpAddress>& addresses) {
    std::string problem;
    asio::steady_timer timer(strand_, context_->limits.resolve);
    const auto first =
        co_await (look_up(context_->resolver, name, addresses, problem) || timer.async_wait(asio::use_awaitable));
    if (first.index() == 0 && !addresses.empty()) co_return std::nullopt;
    co_return DialFailure{DialFailure::Kind::unresolved, name + " does not resolve: " + problem, {}};
}

awaitable<std::optional<DialFailure>> ProxyConnection::dial_addresses(Destination destination,
                                                                      std::vector<IpAddress> addresses) {
    const std::vector<IpAddress> own = own_among(addresses);
    std::optional<std::pair<IpAddress, DomainVerdict>> refused;
    std::vector<IpAddress> allowed;
    for (const IpAddress& address : addresses) {
        DomainVerdict verdict = context_->rules.judge_address(destination, address, own);
        if (verdict.allowed)
            allowed.push_back(address);
        else if (!refused)
            refused.emplace(address, std::move(verdict));
    }
    std::error_code last;
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        const ProxyLimits& limits = context_->limits;
        const auto limit = i + 1 < allowed.size() ? limits.connect_next : limits.connect;
        last = co_await connect(allowed[i], destination.port, limit);
        if (!last) co_return std::nullopt;
    }
    if (allowed.empty()) {
        co_await report(destination, refused->second, refused->first.text());
        co_return denied(destination, refused->second);
    }
    const bool late = last == asio::error::timed_out;
    co_return DialFailure{late ? DialFailure::Kind::timed_out : DialFailure::Kind::unreachable,
                          "cannot connect to " + destination.text() + ": " + last.message(), last};
}

awaitable<std::error_code> ProxyConnection::connect(IpAddress address, std::uint16_t port,
                                                    std::chrono::nanoseconds limit) {
    const auto endpoint = endpoint_of(address, port);
    std::error_code error;
    upstream_ = ProxySocket(strand_);
    upstream_.open(endpoint.protocol(), error);
    if (error) co_return error;
    asio::steady_timer timer(strand_, limit);
    const auto first = co_await (upstream_.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error)) ||
                                 timer.async_wait(asio::use_awaitable));
    if (first.index() == 1) error = asio::error::timed_out;
    if (!error) set_options(upstream_);
    co_return error;
}

awaitable<void> ProxyConnection::report(Destination destination, DomainVerdict verdict, std::string resolved) {
    Denial denial = denial_for(destination, verdict, std::move(resolved));
    Suspects suspects = suspects_;
    const bool found = co_await find_owner(std::move(suspects), denial, ends_of(client_));
    if (!found)
        context_->log(LogLevel::warning, "denied connect " + destination.text() +
                                             " in no command's stream: the process that asked is gone");
}

awaitable<std::size_t> ProxyConnection::read_from_client(std::string& buffer, Clock::time_point until,
                                                         bool& timed_out) {
    std::error_code error;
    asio::steady_timer timer(strand_, until);
    for (;;) {
        auto readable =
            client_.async_wait(asio::socket_base::wait_read, asio::redirect_error(asio::use_awaitable, error));
        const auto first = co_await (std::move(readable) || timer.async_wait(asio::use_awaitable));
        timed_out = first.index() == 1;
        if (timed_out || error) co_return 0;
        const std::size_t size = append_available(client_, buffer, error);
        if (error != asio::error::would_block) co_return size;
    }
}

awaitable<void> ProxyConnection::close_gently() {
    std::error_code error;
    client_.shutdown(asio::socket_base::shutdown_send, error);
    std::string ignored;
    bool timed_out = false;
    const auto until = Clock::now() + context_->limits.linger;
    while (!error && co_await read_from_client(ignored, until, timed_out) > 0) ignored.clear();
}

}  // namespace sandpipe
