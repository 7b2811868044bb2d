#pragma once

namespace sandpipe::launcher {

// As an entering relay (wire/relay_messages.hpp says by which arguments), which an executor of any kind starts in place
// of a sandboxed command, as the same user.

[[nodiscard]] bool is_relay(int argc, char** argv) noexcept;

/// Ends as its command does: with its exit status, or by its signal. 125: the ticket was refused, or the sandbox could
/// not start it; 126, 127: the program cannot be executed, is not found; 122: the host went away.
[[nodiscard]] int run_relay(int argc, char** argv);

}  // namespace sandpipe::launcher
