#pragma once

#include <sandpipe/end_status.hpp>
#include <sandpipe/invocation.hpp>

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace sandpipe::detail {

/// What a sandbox's `wrap` has put the relay's argv in place of. An executor of this library knows the session and
/// starts the command in it at once; any other one starts the relay.
struct Entry {
    std::vector<std::string> relay;    ///< the argv that stands in the invocation
    std::vector<std::string> command;  ///< the argv that it stands for
    std::string cwd;                   ///< of the command
    std::function<void()> retire;      ///< the relay's ticket is not needed any more
};

/// What a relay would have run, or why it would have run nothing.
using Redeemed = std::variant<InvocationFields, NotStarted>;

/// Puts the command back where the relay's argv stands, also behind words that a later wrapper has put before it ("nice
/// -n 5 RELAY ..."), and retires the ticket. Where a wrapper has replaced the argv as a whole, the argv stays as it is.
/// A cwd that was set after the wrap stays.
void enter_directly(InvocationFields& fields);

/// Puts the command that a relay's ticket is for in place of the relay. Its input and output, its limits of time and
/// output and its way to stop stay those of the relay, as far as it has any.
void enter_by_ticket(InvocationFields& relay, InvocationFields command);

}  // namespace sandpipe::detail
