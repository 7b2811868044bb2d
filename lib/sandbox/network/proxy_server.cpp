#include "sandbox/network/proxy_server.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "process/adopt.hpp"
#include "process/thrown_text.hpp"

namespace sandpipe {
namespace {

using Lock = std::unique_lock<std::mutex>;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kRetry{50};
constexpr std::size_t kAcceptLoops = 2;

std::string text_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (...) {
        return detail::thrown_text();
    }
}

}  // namespace

ProxyServer::ProxyServer(const asio::any_io_executor& executor, ProxyContext context)
    : executor_(executor),
      context_(std::make_shared<const ProxyContext>(std::move(context))),
      strand_(asio::make_strand(executor)) {}

void ProxyServer::open(unique_fd http, unique_fd socks) {
    constexpr ProxyProtocol kProtocols[] = {ProxyProtocol::http, ProxyProtocol::socks5};
    std::array<unique_fd, kAcceptLoops> sockets{std::move(http), std::move(socks)};
    room_.emplace(*strand_, asio::steady_timer::time_point::max());
    share_.emplace(context_->limits.connections, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->look_for_room();
    });
    for (std::size_t i = 0; i < kAcceptLoops; ++i)
        detail::adopt_or_throw(acceptors_[i].emplace(*strand_), sockets[i], tcp::v4());
    for (std::size_t i = 0; i < kAcceptLoops; ++i) {
        const std::uint64_t id = add_task({});
        // The loop's own reference keeps the acceptor that it uses.
        asio::co_spawn(
            *strand_, accept_from(*acceptors_[i], kProtocols[i]),
            [self = shared_from_this(), id](const std::exception_ptr& error) { self->task_ended(id, error); });
    }
}

/// 0 when everything is closing.
std::uint64_t ProxyServer::add_task(const std::shared_ptr<ProxyConnection>& connection) {
    const Lock lock(mutex_);
    if (closing_) return 0;
    tasks_[++last_task_] = connection;
    return last_task_;
}

awaitable<void> ProxyServer::accept_from(Acceptor& acceptor, ProxyProtocol protocol) {
    while (acceptor.is_open()) {
        co_await await_room();
        ProxyStrand strand = asio::make_strand(executor_);
        ProxySocket client(strand);
        std::error_code error;
        co_await acceptor.async_accept(client, asio::redirect_error(asio::use_awaitable, error));
        if (error == asio::error::operation_aborted) co_return;
        if (!error) {
            start(std::move(strand), std::move(client), protocol);
            continue;
        }
        // Such as EMFILE: the client stays in the kernel's queue, and nothing tells when a descriptor is free.
        asio::steady_timer retry(*strand_, kRetry);
        co_await retry.async_wait(asio::use_awaitable);
    }
}

awaitable<void> ProxyServer::await_room() {
    for (;;) {
        {
            const Lock lock(mutex_);
            if (closing_ || share_->has_room()) co_return;
        }
        std::error_code cancelled;
        co_await room_->async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
}

void ProxyServer::start(ProxyStrand strand, ProxySocket client, ProxyProtocol protocol) {
    auto connection = std::make_shared<ProxyConnection>(context_, std::move(strand), std::move(client));
    // On the acceptors' strand, as is what cancels every task: none slips through in between.
    const std::uint64_t id = add_task(connection);
    if (id == 0) return;
    share_->take();
    auto serving = [connection, protocol]() -> awaitable<void> { co_await connection->serve(protocol); };
    // A connection that breaks is nobody's error but its own.
    auto ended = [self = shared_from_this(), connection, id](const std::exception_ptr& error) {
        self->share_->give_back();
        self->task_ended(id, error);
    };
    asio::co_spawn(connection->strand(), std::move(serving),
                   asio::bind_cancellation_slot(connection->cancellation().slot(), std::move(ended)));
}

void ProxyServer::task_ended(std::uint64_t id, const std::exception_ptr& error) {
    if (error) context_->log(LogLevel::debug, "a proxy connection broke: " + text_of(error));
    std::function<void()> done;
    {
        const Lock lock(mutex_);
        tasks_.erase(id);
        if (closing_ && tasks_.empty()) done = std::exchange(done_, nullptr);
    }
    look_for_room();
    if (done) done();
}

void ProxyServer::look_for_room() {
    const Lock lock(mutex_);
    if (released_) return;
    asio::post(*strand_, [self = shared_from_this()] {
        const Lock relock(self->mutex_);
        if (self->room_) self->room_->cancel();
    });
}

void ProxyServer::close(std::function<void()> done) {
    {
        const Lock lock(mutex_);
        if (released_ || closing_) return;
        closing_ = true;
        done_ = std::move(done);
        if (!tasks_.empty()) {
            asio::post(*strand_, [self = shared_from_this()] { self->stop_everything(); });
            return;
        }
        done = std::exchange(done_, nullptr);
    }
    if (done) done();
}

std::vector<std::shared_ptr<ProxyConnection>> ProxyServer::connections() const {
    std::vector<std::shared_ptr<ProxyConnection>> found;
    for (const auto& [id, task] : tasks_)
        if (auto connection = task.lock()) found.push_back(std::move(connection));
    return found;
}

void ProxyServer::check_for_clients() {
    std::vector<std::shared_ptr<ProxyConnection>> open;
    {
        const Lock lock(mutex_);
        if (released_) return;
        open = connections();
    }
    for (const auto& connection : open) connection->check_for_client();
}

void ProxyServer::stop_everything() {
    std::vector<std::shared_ptr<ProxyConnection>> open;
    {
        const Lock lock(mutex_);
        open = connections();
        std::error_code ignored;  // it is closed all the same
        for (auto& acceptor : acceptors_)
            if (acceptor) acceptor->close(ignored);
        if (room_) room_->cancel();
    }
    for (const auto& connection : open) connection->cancel();
}

void ProxyServer::release_io() noexcept {
    const Lock lock(mutex_);
    released_ = true;
    tasks_.clear();
    done_ = nullptr;
    for (auto& acceptor : acceptors_) acceptor.reset();
    room_.reset();
    strand_.reset();
}

}  // namespace sandpipe
