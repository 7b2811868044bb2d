#pragma once

#include <sandpipe/awaitable.hpp>

#include <asio/cancellation_signal.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/network/proxy_context.hpp"

namespace sandpipe {

enum class ProxyProtocol : std::uint8_t { http, socks5 };

using ProxyStrand = asio::strand<asio::any_io_executor>;
using ProxySocket = asio::ip::tcp::socket;

/// Why there is no connection to a destination.
struct DialFailure {
    enum class Kind : std::uint8_t { denied, unresolved, unreachable, timed_out };

    Kind kind = Kind::denied;
    std::string text;       ///< for the client
    std::error_code error;  ///< of the last attempt
};

/// One client of a proxy: everything happens on its own strand.
class ProxyConnection : public std::enable_shared_from_this<ProxyConnection> {
  public:
    ProxyConnection(std::shared_ptr<const ProxyContext> shared_context, ProxyStrand strand, ProxySocket client);

    /// Serves the client until one side is done with it, or until the client is gone and all that it sent has arrived
    /// at the other side: one that has only ended its stream may still wait for an answer. Throws std::system_error
    /// when a connection breaks.
    awaitable<void> serve(ProxyProtocol protocol);
    /// Ends `serve` at once; from any thread.
    void cancel();
    /// A command has ended: looks at once whether it had this connection. From any thread.
    void check_for_client();

    [[nodiscard]] const ProxyStrand& strand() const noexcept { return strand_; }
    [[nodiscard]] asio::cancellation_signal& cancellation() noexcept { return cancellation_; }
    [[nodiscard]] const ProxyLimits& limits() const noexcept { return context_->limits; }
    [[nodiscard]] ProxySocket& client() noexcept { return client_; }
    [[nodiscard]] ProxySocket& upstream() noexcept { return upstream_; }

    /// Makes `upstream` a connection to the destination: judges it, resolves once, judges each address, and dials those
    /// in turn. A refusal stands in the stream of the command that asked before this returns.
    awaitable<std::optional<DialFailure>> dial(Destination destination);
    /// Appends what comes next from the client. 0: it has closed, or the time is over (`timed_out`).
    awaitable<std::size_t> read_from_client(std::string& buffer, std::chrono::steady_clock::time_point until,
                                            bool& timed_out);
    /// Ends our side so that the client can read what was sent last: a close with unread input would take it back.
    awaitable<void> close_gently();

  private:
    awaitable<void> serve_protocol(ProxyProtocol protocol, std::exception_ptr& failure);
    awaitable<void> wait_until_orphaned();
    [[nodiscard]] bool may_be_gone();
    [[nodiscard]] awaitable<bool> client_is_gone();
    [[nodiscard]] bool all_has_arrived();
    awaitable<std::optional<DialFailure>> resolve(std::string name, std::vector<IpAddress>& addresses);
    awaitable<std::optional<DialFailure>> dial_addresses(Destination destination, std::vector<IpAddress> addresses);
    awaitable<std::error_code> connect(IpAddress address, std::uint16_t port, std::chrono::nanoseconds limit);
    awaitable<void> report(Destination destination, DomainVerdict verdict, std::string resolved);

    const std::shared_ptr<const ProxyContext> context_;
    const ProxyStrand strand_;
    ProxySocket client_;
    ProxySocket upstream_;
    asio::cancellation_signal cancellation_;
    asio::steady_timer orphan_check_;
    bool check_wanted_ = false;  // at once
    bool gone_ = false;          // the client, when it was last looked for
    const Suspects suspects_;
};

awaitable<void> write_all(ProxySocket& socket, std::string_view bytes);
/// What a readable socket has, at most 64 KiB. 0: the end, or `error`.
std::size_t append_available(ProxySocket& socket, std::string& buffer, std::error_code& error);

}  // namespace sandpipe
