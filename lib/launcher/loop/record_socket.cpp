#include "launcher/loop/record_socket.hpp"

#include <utility>

#include "sys/descriptors.hpp"
#include "wire/packet_socket.hpp"

namespace sandpipe::launcher {

void RecordSocket::close() {
    if (socket_) loop_.remove(socket_.get());
    socket_.reset();
    unsent_.clear();
    unsent_bytes_ = 0;
    waits_for_room_ = false;
}

void RecordSocket::send(std::string message) {
    if (!socket_) return;
    unsent_bytes_ += message.size();
    unsent_.push_back(std::move(message));
    if (unsent_.size() == 1) flush();
}

void RecordSocket::flush() {
    while (!unsent_.empty()) {
        const int error = wire::send_packet(socket_.get(), unsent_.front());
        if (sys::is_shortage(-error)) break;
        if (error < 0) return close();
        unsent_bytes_ -= unsent_.front().size();
        unsent_.pop_front();
    }
    if (waits_for_room_ == has_unsent()) return;
    waits_for_room_ = has_unsent();
    // Without being told when there is room it would wait for ever.
    if (loop_.when_writable(socket_.get(), waits_for_room_) < 0) close();
}

}  // namespace sandpipe::launcher
