#pragma once

#include <poll.h>
#include <sandpipe/unique_fd.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "process/packet_channel.hpp"
#include "sys/descriptors.hpp"
#include "wire/codec.hpp"
#include "wire/messages.hpp"

namespace sandpipe::testing {

/// Sends these bytes with the descriptors of a start and gives what comes on its record socket: "refused ERRNO",
/// "closed" for nothing, or "no answer".
inline std::string answer_to(detail::PacketChannel& channel, std::string bytes) {
    sys::SocketPair record;
    if (sys::make_socket_pair(record) < 0) return "no socket";
    std::vector<unique_fd> fds;
    fds.push_back(std::move(record.second));
    for (int i = 0; i < 3; ++i) {
        sys::Pipe pipe;
        if (sys::make_pipe(pipe) < 0) return "no pipe";
        fds.push_back(std::move(pipe.read_end));
    }
    channel.send(std::move(bytes), std::move(fds));
    pollfd ready{record.first.get(), POLLIN, 0};
    if (::poll(&ready, 1, 20'000) != 1) return "no answer";
    wire::Packet packet;
    wire::Failure failure;
    const int got = wire::receive_packet(record.first.get(), packet);
    if (got == 1 && wire::decode(packet.bytes, failure)) return "refused " + std::to_string(failure.error);
    return got == 0 ? "closed" : "another answer";
}

/// What no host of this build sends, but damaged memory may.
inline std::vector<std::string> wrong_requests() {
    wire::StartCommand start;
    const std::string without_program = wire::encode(start);
    start.programs = start.argv = {"/bin/true"};
    // A body in a descriptor, which is a pipe.
    return {without_program, wire::encode(start) + "x", wire::Encoder().number(std::uint32_t{0x64657461}).take()};
}

}  // namespace sandpipe::testing
