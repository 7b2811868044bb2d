#pragma once

#include <sandpipe/unique_fd.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "wire/packet_socket.hpp"

namespace sandpipe::detail {

/// The host's end of a control or cell socket: sends whole packets in order and keeps what the socket cannot
/// take yet. It waits only while something is under way, so an idle Runtime keeps no io_context busy.
/// Thread-safe.
class PacketChannel : public std::enable_shared_from_this<PacketChannel> {
  public:
    /// The packet, or nullptr once the other side is gone; on the executor, without the lock.
    using OnPacket = std::function<void(wire::Packet*)>;

    /// Throws Shortage where the kernel's epoll can take no more; the caller still has the socket then.
    [[nodiscard]] static std::shared_ptr<PacketChannel> open(const asio::any_io_executor& executor,
                                                             unique_fd& socket);

    /// Queues the packet and owns the descriptors until it is sent. When the other side is gone they are
    /// closed, which is how whoever waits at their other ends hears of it.
    void send(std::string bytes, std::vector<unique_fd> fds);
    /// Waits for one packet.
    void receive(OnPacket on_packet);
    /// Whether the other side still holds its end. Looks, and does not wait.
    [[nodiscard]] bool alive();
    /// Safe from any thread, also when the context does not run: the other side sees end of file. Nothing in a forked
    /// child of the process that opened it.
    void shut_down() noexcept;
    /// Gives up the I/O objects. For the shutdown of their context.
    void release_io() noexcept;

  private:
    struct Outgoing {
        std::string bytes;
        std::vector<unique_fd> fds;
    };

    PacketChannel(const asio::any_io_executor& executor, unique_fd& socket);
    void flush();
    static void refuse(const Outgoing& packet, int error);
    void wait_to_send(bool descriptors_under_way);
    void on_readable(const OnPacket& on_packet);

    const pid_t owner_;  // this process, and no child that it forks
    std::mutex mutex_;
    std::optional<asio::posix::stream_descriptor> socket_;
    std::optional<asio::steady_timer> retry_;
    std::deque<Outgoing> queue_;
    bool waiting_to_send_ = false;
};

}  // namespace sandpipe::detail
