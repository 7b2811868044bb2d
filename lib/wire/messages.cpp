#include "messages.hpp"

#include "message_head.hpp"

namespace sandpipe::wire {

MessageType type_of(std::string_view packet) noexcept {
    MessageType type{};
    Decoder(packet).number(type);
    return type;
}

std::string encode(const StartCommand& message) {
    Encoder out = begin(MessageType::start_command);
    out.number(message.id).texts(message.programs).texts(message.argv).texts(message.env);
    return out.text(message.cwd).number(message.end_survivors).take();
}

bool decode(std::string_view packet, StartCommand& message) {
    Decoder in(packet);
    if (!expect(in, MessageType::start_command)) return false;
    in.number(message.id).texts(message.programs).texts(message.argv).texts(message.env);
    return in.text(message.cwd).number(message.end_survivors).complete();
}

std::string encode(const MakeCell& message) {
    Encoder out = begin(MessageType::make_cell);
    encode(out, message.plan);
    return out.take();
}

bool decode(std::string_view packet, MakeCell& message) {
    Decoder in(packet);
    if (!expect(in, MessageType::make_cell)) return false;
    decode(in, message.plan);
    return in.complete();
}

std::string encode(const DiscardCommand& message) {
    return begin(MessageType::discard_command).number(message.id).take();
}

bool decode(std::string_view packet, DiscardCommand& message) {
    Decoder in(packet);
    return expect(in, MessageType::discard_command) && in.number(message.id).complete();
}

std::string encode(const CellReady& message) {
    Encoder out = begin(MessageType::cell_ready);
    encode(out, message.facts);
    return out.take();
}

bool decode(std::string_view packet, CellReady& message) {
    Decoder in(packet);
    if (!expect(in, MessageType::cell_ready)) return false;
    decode(in, message.facts);
    return in.complete();
}

std::string encode(const Failure& message) {
    Encoder out = begin(MessageType::failed);
    out.number(message.stage).number(message.error).text(message.path);
    return out.text(message.passed_over).number(message.passed_over_error).take();
}

bool decode(std::string_view packet, Failure& message) {
    Decoder in(packet);
    if (!expect(in, MessageType::failed)) return false;
    in.number(message.stage).number(message.error).text(message.path);
    return in.text(message.passed_over).number(message.passed_over_error).complete();
}

std::string encode(const Started& message) {
    return begin(MessageType::started).number(message.monotonic_ns).number(message.pid).take();
}

bool decode(std::string_view packet, Started& message) {
    Decoder in(packet);
    return expect(in, MessageType::started) && in.number(message.monotonic_ns).number(message.pid).complete();
}

std::string encode(const Denied& message) {
    Encoder out = begin(MessageType::denied);
    out.number(message.id)
        .number(message.kind)
        .text(message.operation)
        .text(message.path)
        .text(message.resolved);
    out.text(message.second_path).text(message.second_resolved).text(message.host).number(message.port);
    out.number(message.error).text(message.rule);
    return out.number(message.pid).text(message.program).number(message.probe).number(message.folded).take();
}

bool decode(std::string_view packet, Denied& message) {
    Decoder in(packet);
    if (!expect(in, MessageType::denied)) return false;
    in.number(message.id)
        .number(message.kind)
        .text(message.operation)
        .text(message.path)
        .text(message.resolved);
    in.text(message.second_path).text(message.second_resolved).text(message.host).number(message.port);
    in.number(message.error).text(message.rule);
    return in.number(message.pid)
        .text(message.program)
        .number(message.probe)
        .number(message.folded)
        .complete();
}

std::string encode(const Ended& message) {
    Encoder out = begin(MessageType::ended);
    out.number(message.monotonic_ns).number(message.wait_status).number(message.survivors_ended);
    out.number(message.user_us).number(message.system_us).number(message.max_rss_bytes);
    return out.number(message.abandoned).take();
}

bool decode(std::string_view packet, Ended& message) {
    Decoder in(packet);
    if (!expect(in, MessageType::ended)) return false;
    in.number(message.monotonic_ns).number(message.wait_status).number(message.survivors_ended);
    in.number(message.user_us).number(message.system_us).number(message.max_rss_bytes);
    return in.number(message.abandoned).complete();
}

std::string encode(const Signal& message) { return begin(MessageType::signal).number(message.signal).take(); }

bool decode(std::string_view packet, Signal& message) {
    Decoder in(packet);
    return expect(in, MessageType::signal) && in.number(message.signal).complete();
}

std::string encode(const Acknowledge& message) {
    return begin(MessageType::acknowledge).number(message.id).take();
}

bool decode(std::string_view packet, Acknowledge& message) {
    Decoder in(packet);
    return expect(in, MessageType::acknowledge) && in.number(message.id).complete();
}

std::string encode(const FindSocketHolder& message) {
    Encoder out = begin(MessageType::find_socket_holder);
    return out.number(message.id)
        .number(message.address)
        .number(message.port)
        .number(message.peer_port)
        .take();
}

bool decode(std::string_view packet, FindSocketHolder& message) {
    Decoder in(packet);
    if (!expect(in, MessageType::find_socket_holder)) return false;
    in.number(message.id).number(message.address).number(message.port).number(message.peer_port);
    return in.complete();
}

std::string encode(const SocketHolder& message) {
    Encoder out = begin(MessageType::socket_holder);
    return out.number(message.id).number(message.pid).text(message.program).take();
}

bool decode(std::string_view packet, SocketHolder& message) {
    Decoder in(packet);
    if (!expect(in, MessageType::socket_holder)) return false;
    return in.number(message.id).number(message.pid).text(message.program).complete();
}

std::string encode_idle() { return begin(MessageType::idle).take(); }

}  // namespace sandpipe::wire
