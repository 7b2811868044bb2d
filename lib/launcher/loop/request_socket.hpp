#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstdint>
#include <utility>

#include "wire/packet_socket.hpp"

namespace sandpipe::launcher {

/// Answers a request that cannot be taken, with a Failure on the first of its descriptors. One that has none has nobody
/// who waits for an answer.
void refuse_request(const wire::Packet& request, int error);

/// Where requests come in. Each brings the socket that its answer goes to, as its first descriptor; so one that cannot
/// be taken is refused there and ends nothing else. However short descriptors are, there is room for that one.
class RequestSocket {
  public:
    explicit RequestSocket(unique_fd socket) : socket_(std::move(socket)) { keep_spare(); }

    [[nodiscard]] int get() const noexcept { return socket_.get(); }

    /// `over`: the other end is gone, or what came is nothing that this build sends.
    enum class Got : std::uint8_t { request, refused, nothing, over };
    [[nodiscard]] Got receive(wire::Packet& packet);

  private:
    void keep_spare();

    unique_fd socket_;
    unique_fd spare_;
};

}  // namespace sandpipe::launcher
