#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/invocation.hpp>
#include <sandpipe/unique_fd.hpp>

#include <memory>
#include <string>
#include <vector>

#include "process/packet_channel.hpp"
#include "process/runtime_core.hpp"

namespace sandpipe {

/// Runs `command`, whose session is set, with the descriptors of a relay: 0, 1 and 2. Passes the relay's signals on
/// and tells it how the command ended; a relay that goes away ends the command at once. Throws `Error` for a wrong
/// invocation or a closed session.
[[nodiscard]] awaitable<void> run_for_relay(std::shared_ptr<detail::RuntimeCore> runtime, InvocationFields command,
                                            std::vector<unique_fd> stdio,
                                            std::shared_ptr<detail::PacketChannel> relay);

/// A relay that got nothing: it prints `text` and exits with 125.
void refuse_relay(detail::PacketChannel& relay, const std::string& text);

}  // namespace sandpipe
