#include "session_plan.hpp"

namespace sandpipe::wire {
namespace {

void encode_op(Encoder& out, const MountOp& op) {
    out.number(op.step)
        .text(op.path)
        .number(op.slot)
        .number(op.is_directory)
        .number(op.bytes)
        .number(op.noexec)
        .texts(op.holes);
    out.list(op.hole_is_directory, [](Encoder& to, std::uint8_t value) { to.number(value); });
}

void decode_op(Decoder& in, MountOp& op) {
    in.number(op.step).text(op.path).number(op.slot).number(op.is_directory).number(op.bytes);
    in.number(op.noexec).texts(op.holes);
    in.list(op.hole_is_directory, [](Decoder& from, std::uint8_t& value) { from.number(value); });
}

}  // namespace

void encode(Encoder& out, const SessionPlan& plan) {
    out.list(plan.mounts, encode_op);
    encode(out, plan.rules);
    out.number(plan.filesystem_enforced).number(plan.own_network).texts(plan.unix_sockets);
    out.list(plan.proxy_ports, [](Encoder& to, std::uint16_t port) { to.number(port); });
    out.number(plan.allow_weaker).text(plan.workspace);
}

void decode(Decoder& in, SessionPlan& plan) {
    in.list(plan.mounts, decode_op);
    decode(in, plan.rules);
    in.number(plan.filesystem_enforced).number(plan.own_network).texts(plan.unix_sockets);
    in.list(plan.proxy_ports, [](Decoder& from, std::uint16_t& port) { from.number(port); });
    in.number(plan.allow_weaker).text(plan.workspace);
}

void encode(Encoder& out, const EnforcementFacts& facts) {
    out.number(facts.user_namespace).number(facts.network_namespace).number(facts.landlock_abi);
    out.number(facts.denials).number(facts.listener_error).number(facts.addfd_send).number(facts.wait_killable);
    out.list(facts.given_up, [](Encoder& to, const GivenUp& given) { to.text(given.mechanism).number(given.error); });
}

void decode(Decoder& in, EnforcementFacts& facts) {
    in.number(facts.user_namespace).number(facts.network_namespace).number(facts.landlock_abi);
    in.number(facts.denials).number(facts.listener_error).number(facts.addfd_send).number(facts.wait_killable);
    in.list(facts.given_up, [](Decoder& from, GivenUp& given) { from.text(given.mechanism).number(given.error); });
}

}  // namespace sandpipe::wire
