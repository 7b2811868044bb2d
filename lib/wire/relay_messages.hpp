#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The packets between a session's host and an entering relay: the launcher's image, started by any executor, which
/// stands in for a sandboxed command. One connection is one command:
///
///     relay -> host   Enter with its stdin, stdout and stderr; then RelayedSignal ...
///     host -> relay   Entered, once the ticket is accepted; then CommandOver. Or EntryRefused at any time.
///
/// Its end closed means: the relay was killed, so the command ends; or the host is gone, so the relay ends.
/// RelayedSignal also goes from host to init, on the record socket.
namespace sandpipe::wire {

/// The first arguments by which the launcher's image is such a relay:
///
///     IMAGE enter HOST-PID ADDRESS TICKET     passes its descriptors 0 to 2 to that host, signals in one direction and
///                                             the end in the other
///     IMAGE refuse TEXT                       says why no command can be entered
inline constexpr std::string_view kEnterWord = "enter";
inline constexpr std::string_view kRefuseWord = "refuse";

/// What a relay exits with where it is not the command's own status.
inline constexpr int kStatusLost = 122;     ///< the sandbox went away
inline constexpr int kStatusRefused = 125;  ///< no command ran: the ticket, the cwd, the sandbox

struct Enter {
    std::string ticket;
};

struct Entered {};

/// A signal that the relay got. Unlike Signal, it begins no stop: what it does is the command's own affair.
struct RelayedSignal {
    std::int32_t signal = 0;
    bool to_all = false;  ///< to all processes of the command, else to its first
};

struct CommandOver {
    std::int32_t wait_status = 0;  ///< as wait(2) gives it
};

/// No command ran, or its end is unknown.
struct EntryRefused {
    std::int32_t exit_status = 0;  ///< for the relay
    std::string text;              ///< a sentence for its stderr
};

[[nodiscard]] std::string encode(const Enter& message);
[[nodiscard]] std::string encode(const Entered& message);
[[nodiscard]] std::string encode(const RelayedSignal& message);
[[nodiscard]] std::string encode(const CommandOver& message);
[[nodiscard]] std::string encode(const EntryRefused& message);

/// Each returns false for a packet of another type or one that does not fit to the byte.
[[nodiscard]] bool decode(std::string_view packet, Enter& message);
[[nodiscard]] bool decode(std::string_view packet, Entered& message);
[[nodiscard]] bool decode(std::string_view packet, RelayedSignal& message);
[[nodiscard]] bool decode(std::string_view packet, CommandOver& message);
[[nodiscard]] bool decode(std::string_view packet, EntryRefused& message);

}  // namespace sandpipe::wire
