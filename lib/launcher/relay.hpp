#pragma once

#include <string_view>

namespace sandpipe::launcher {

/// The first arguments by which this image is a relay instead of the launcher. An executor of any kind starts it in
/// place of a sandboxed command, as the same user:
///
///     IMAGE enter HOST-PID ADDRESS TICKET     passes its descriptors 0 to 2 to that host, signals in one direction and
///                                             the end in the other
///     IMAGE refuse TEXT                       says why no command can be entered
inline constexpr std::string_view kEnterWord = "enter";
inline constexpr std::string_view kRefuseWord = "refuse";

[[nodiscard]] bool is_relay(int argc, char** argv) noexcept;

/// Ends as its command does: with its exit status, or by its signal. 125: the ticket was refused, or the sandbox could
/// not start it; 126, 127: the program cannot be executed, is not found; 122: the host went away.
[[nodiscard]] int run_relay(int argc, char** argv);

}  // namespace sandpipe::launcher
