#pragma once

#include "launcher/kernel/refused_call.hpp"
#include "launcher/supervisor/supervised_act.hpp"
#include "launcher/supervisor/supervised_call.hpp"
#include "launcher/supervisor/supervised_socket.hpp"
#include "wire/messages.hpp"

namespace sandpipe::launcher {

/// What the host is told of a refused call; all but its number and its caller.
[[nodiscard]] wire::Denied denied_message(const Call& call, const Answer& answer);
[[nodiscard]] wire::Denied denied_message(const NotifiedCall& row, const SocketAnswer& answer);
/// Of a call that follows another convention (architecture.hpp).
[[nodiscard]] wire::Denied denied_message(const seccomp_data& foreign);
/// Of a call that is notified only to be refused.
[[nodiscard]] wire::Denied denied_message(const seccomp_data& call, const Refusal& refusal);

}  // namespace sandpipe::launcher
