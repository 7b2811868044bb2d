#include "relay_messages.hpp"

#include "message_head.hpp"

namespace sandpipe::wire {

std::string encode(const Enter& message) { return begin(MessageType::enter).text(message.ticket).take(); }

bool decode(std::string_view packet, Enter& message) {
    Decoder in(packet);
    return expect(in, MessageType::enter) && in.text(message.ticket).complete();
}

std::string encode(const Entered&) { return begin(MessageType::entered).take(); }

bool decode(std::string_view packet, Entered&) {
    Decoder in(packet);
    return expect(in, MessageType::entered) && in.complete();
}

std::string encode(const RelayedSignal& message) {
    return begin(MessageType::relayed_signal).number(message.signal).number(message.to_all).take();
}

bool decode(std::string_view packet, RelayedSignal& message) {
    Decoder in(packet);
    return expect(in, MessageType::relayed_signal) &&
           in.number(message.signal).number(message.to_all).complete();
}

std::string encode(const CommandOver& message) {
    return begin(MessageType::command_over).number(message.wait_status).take();
}

bool decode(std::string_view packet, CommandOver& message) {
    Decoder in(packet);
    return expect(in, MessageType::command_over) && in.number(message.wait_status).complete();
}

std::string encode(const EntryRefused& message) {
    return begin(MessageType::entry_refused).number(message.exit_status).text(message.text).take();
}

bool decode(std::string_view packet, EntryRefused& message) {
    Decoder in(packet);
    return expect(in, MessageType::entry_refused) &&
           in.number(message.exit_status).text(message.text).complete();
}

}  // namespace sandpipe::wire
