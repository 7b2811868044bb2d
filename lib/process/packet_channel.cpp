#include "packet_channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "process/adopt.hpp"
#include "sys/descriptors.hpp"
#include "wire/messages.hpp"

namespace sandpipe::detail {

using Lock = std::lock_guard<std::mutex>;

PacketChannel::PacketChannel(const asio::any_io_executor& executor, unique_fd& socket)
    : owner_(::getpid()), socket_(std::in_place, executor), retry_(std::in_place, executor) {
    adopt_or_throw(*socket_, socket);
}

std::shared_ptr<PacketChannel> PacketChannel::open(const asio::any_io_executor& executor, unique_fd& socket) {
    return std::shared_ptr<PacketChannel>(new PacketChannel(executor, socket));
}

void PacketChannel::send(std::string bytes, std::vector<unique_fd> fds) {
    const Lock lock(mutex_);
    if (!socket_) return;
    queue_.push_back({std::move(bytes), std::move(fds)});
    if (!waiting_to_send_) flush();
}

void PacketChannel::flush() {
    while (!queue_.empty()) {
        std::vector<int> fds;
        for (const unique_fd& fd : queue_.front().fds) fds.push_back(fd.get());
        const int error = wire::send_packet(socket_->native_handle(), queue_.front().bytes, fds);
        if (error == -EAGAIN || error == -ETOOMANYREFS) return wait_to_send(error == -ETOOMANYREFS);
        if (sys::is_shortage(-error) || error == -E2BIG) refuse(queue_.front(), -error);
        // A packet that cannot be sent at all closes its descriptors: its command is lost, the next may pass.
        queue_.pop_front();
    }
}

/// Answers in place of the launcher, on the socket that it would have got: the first of the packet's.
void PacketChannel::refuse(const Outgoing& packet, int error) {
    if (packet.fds.empty()) return;
    const wire::Failure failure{Stage::resources, error, "the request"};
    (void)wire::send_packet(packet.fds.front().get(), wire::encode(failure));  // who has gone needs no answer
}

void PacketChannel::wait_to_send(bool descriptors_under_way) {
    waiting_to_send_ = true;
    auto again = [self = shared_from_this()](const std::error_code&) {
        const Lock lock(self->mutex_);
        self->waiting_to_send_ = false;
        if (self->socket_) self->flush();
    };
    if (!descriptors_under_way)
        return socket_->async_wait(asio::posix::descriptor_base::wait_write, std::move(again));
    // Nothing tells when the peer has taken descriptors out of the way (unix(7)).
    retry_->expires_after(std::chrono::milliseconds{2});
    retry_->async_wait(std::move(again));
}

void PacketChannel::receive(OnPacket on_packet) {
    const Lock lock(mutex_);
    if (!socket_) return;
    socket_->async_wait(
        asio::posix::descriptor_base::wait_read,
        [self = shared_from_this(), on_packet = std::move(on_packet)](const std::error_code& error) {
            if (!error) self->on_readable(on_packet);
        });
}

void PacketChannel::on_readable(const OnPacket& on_packet) {
    wire::Packet packet;
    int got = 0;
    {
        const Lock lock(mutex_);
        if (!socket_) return;
        got = wire::receive_packet(socket_->native_handle(), packet);
    }
    if (got == -EAGAIN) return receive(on_packet);
    on_packet(got > 0 ? &packet : nullptr);
}

bool PacketChannel::alive() {
    const Lock lock(mutex_);
    if (!socket_) return false;
    pollfd entry{socket_->native_handle(), 0, 0};
    int count;
    do count = ::poll(&entry, 1, 0);
    while (count < 0 && errno == EINTR);
    return count <= 0;  // nothing to say but a hang-up
}

void PacketChannel::shut_down() noexcept {
    const Lock lock(mutex_);
    // In a forked child the socket is the parent's too, and what is below it is not ours to end.
    if (socket_ && ::getpid() == owner_) ::shutdown(socket_->native_handle(), SHUT_RDWR);
}

void PacketChannel::release_io() noexcept {
    const Lock lock(mutex_);
    queue_.clear();
    socket_.reset();
    retry_.reset();
}

}  // namespace sandpipe::detail
