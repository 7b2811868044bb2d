#include "launcher/loop/request_socket.hpp"

#include <fcntl.h>

#include <cerrno>

#include "wire/messages.hpp"

namespace sandpipe::launcher {

void refuse_request(const wire::Packet& request, int error) {
    if (request.fds.empty()) return;
    const char* what = error == EMFILE ? "the launcher's descriptors" : "the request";
    // Who has gone needs no answer.
    (void)wire::send_packet(request.fds.front().get(), wire::encode(wire::Failure{Stage::resources, error, what}));
}

RequestSocket::Got RequestSocket::receive(wire::Packet& packet) {
    spare_.reset();
    const int got = wire::receive_packet(socket_.get(), packet);
    // Without any descriptor nobody can be told why: its sender sees them close.
    const bool refused = got == -EMFILE || (got < 0 && !packet.fds.empty());
    if (refused) {
        refuse_request(packet, -got);
        packet.fds.clear();
    }
    keep_spare();
    if (refused) return Got::refused;
    if (got == -EAGAIN) return Got::nothing;
    return got > 0 ? Got::request : Got::over;
}

void RequestSocket::keep_spare() { spare_.reset(::fcntl(socket_.get(), F_DUPFD_CLOEXEC, 3)); }

}  // namespace sandpipe::launcher
