#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/unique_fd.hpp>

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sandbox/network/connection_share.hpp"
#include "sandbox/network/proxy_connection.hpp"

namespace sandpipe {

/// The HTTP and the SOCKS5 proxy of one session: accepts from sockets that listen in the session's network namespace,
/// and dials from the host's. Thread-safe. It keeps the context busy until it is closed.
class ProxyServer : public std::enable_shared_from_this<ProxyServer> {
  public:
    ProxyServer(const asio::any_io_executor& executor, ProxyContext context);

    /// Takes listening sockets over IPv4; once. Throws detail::Shortage where epoll takes no more.
    void open(unique_fd http, unique_fd socks);
    /// A command has ended, and its connections with it; from any thread.
    void check_for_clients();
    /// Closes listeners and connections, from any thread; `done` runs when nothing is left of them, the first time
    /// only.
    void close(std::function<void()> done);
    /// Gives up the I/O objects, without callbacks: the context is being destroyed.
    void release_io() noexcept;

  private:
    using Acceptor = asio::ip::tcp::acceptor;

    awaitable<void> accept_from(Acceptor& acceptor, ProxyProtocol protocol);
    awaitable<void> await_room();
    void start(ProxyStrand strand, ProxySocket client, ProxyProtocol protocol);
    std::uint64_t add_task(const std::shared_ptr<ProxyConnection>& connection);
    void task_ended(std::uint64_t id, const std::exception_ptr& error);
    /// Who waits for room looks again; from any thread.
    void look_for_room();
    void stop_everything();
    [[nodiscard]] std::vector<std::shared_ptr<ProxyConnection>> connections() const;  // with the lock

    const asio::any_io_executor executor_;
    const std::shared_ptr<const ProxyContext> context_;
    std::optional<ProxyStrand> strand_;  // of the acceptors; given up with the I/O, as it belongs to the context

    std::optional<ConnectionShare> share_;  // from `open` on

    std::mutex mutex_;
    std::array<std::optional<Acceptor>, 2> acceptors_;
    std::optional<asio::steady_timer> room_;  // cancelled when a connection ends, here or in another session
    std::map<std::uint64_t, std::weak_ptr<ProxyConnection>> tasks_;  // the accept loops among them, as empty ones
    std::uint64_t last_task_ = 0;
    std::function<void()> done_;
    bool closing_ = false;
    bool released_ = false;
};

}  // namespace sandpipe
