#include "sandbox/relayed_command.hpp"

#include <utility>

#include "process/command_core.hpp"
#include "process/exit_status.hpp"
#include "process/start_failure.hpp"
#include "wire/relay_messages.hpp"

namespace sandpipe {
namespace {

using detail::CommandCore;
using detail::PacketChannel;

wire::CommandOver over(const Exited& exited) { return {(exited.code & 0xff) << 8}; }

/// As wait(2) has it, without the bit of a core: that would be on the relay's behalf.
wire::CommandOver over(const Signaled& signaled) { return {signaled.signal & 0x7f}; }

std::string last_word(const CommandResult& result) {
    const int status = detail::exit_status(result);
    if (result.cause == Cause::lost)
        return wire::encode(
            wire::EntryRefused{status, "the sandbox of this command was lost, and the command with it"});
    if (const auto* start = std::get_if<NotStarted>(&result.status))
        return wire::encode(wire::EntryRefused{status, "the command was not started: " + detail::describe(*start)});
    if (const auto* exited = std::get_if<Exited>(&result.status)) return wire::encode(over(*exited));
    return wire::encode(over(std::get<Signaled>(result.status)));
}

void pass_signals_on(const std::shared_ptr<PacketChannel>& relay, const std::shared_ptr<CommandCore>& command) {
    relay->receive([relay, command](wire::Packet* packet) {
        wire::RelayedSignal message;
        if (!packet || !wire::decode(packet->bytes, message)) return command->end_at_once();
        command->relay_signal(message.signal, message.to_all);
        pass_signals_on(relay, command);
    });
}

BinaryInvocation with_descriptors(InvocationFields fields, const std::vector<unique_fd>& stdio) {
    BinaryInvocation invocation(fields.program);
    invocation.fields() = std::move(fields);
    invocation.input(Input::descriptor(stdio[0].get()));
    invocation.out(Output::descriptor(stdio[1].get()));
    invocation.err(Output::descriptor(stdio[2].get()));
    return invocation;
}

}  // namespace

awaitable<void> run_for_relay(std::shared_ptr<detail::RuntimeCore> runtime, InvocationFields command,
                              std::vector<unique_fd> stdio, std::shared_ptr<PacketChannel> relay) {
    relay->send(wire::encode(wire::Entered{}), {});
    const detail::CommandDefaults defaults;
    BinaryInvocation invocation = with_descriptors(std::move(command), stdio);
    auto core = CommandCore::make(std::move(runtime), std::move(invocation), defaults, CommandCore::Mode::streamed);
    stdio.clear();
    pass_signals_on(relay, core);
    co_await core->start();
    const CommandResult result = co_await core->finish();
    relay->send(last_word(result), {});
    // What was sent is still received, and the wait for signals ends (unix(7)).
    relay->shut_down();
}

void refuse_relay(PacketChannel& relay, const std::string& text) {
    relay.send(wire::encode(wire::EntryRefused{detail::kStatusRefused, text}), {});
    relay.shut_down();
}

}  // namespace sandpipe
