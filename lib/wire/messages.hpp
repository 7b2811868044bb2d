#pragma once

#include <sandpipe/end_status.hpp>

#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec.hpp"
#include "session_plan.hpp"

/// The packets between host and launcher. Every socket is SOCK_SEQPACKET, so one packet is one message; it
/// begins with its MessageType. Descriptors travel with it by SCM_RIGHTS, in the order given here.
///
///   control socket   host -> launcher   StartCommand, MakeCell
///   cell socket      host -> cell       StartCommand, DiscardCommand
///                    cell -> host       CellReady or Failed, once
///   record socket    one per command; its host end closed means: nobody waits any more, end the command
///                    init -> host       Started or Failed; then Denied or SocketHolder ...; then Ended
///                    host -> init       Signal, Acknowledge, FindSocketHolder; to the init of a cell also RelayedSignal
namespace sandpipe::wire {

/// Larger bodies travel in a memfd.
inline constexpr std::size_t kMaxInlineBytes = 32 * 1024;
inline constexpr std::size_t kMaxPacketBytes = kMaxInlineBytes + 1024;
inline constexpr std::size_t kMaxPacketFds = 8;


enum class MessageType : std::uint32_t {
    start_command = 1,
    make_cell,
    discard_command,
    cell_ready,
    failed,
    started,
    denied,
    ended,
    signal,
    acknowledge,
    idle,
    find_socket_holder,
    socket_holder,
    enter,  // these are in relay_messages.hpp
    entered,
    relayed_signal,
    command_over,
    entry_refused,
};

/// Why a start or a session failed.
struct Failure {
    Stage stage = Stage::launcher;
    std::int32_t error = 0;
    std::string path;
    /// A program that is missing: the first of the candidates in PATH that was passed over for another reason than
    /// being missing, and that reason (EISDIR: it is a directory). Empty: all of them are missing.
    std::string passed_over = {};
    std::int32_t passed_over_error = 0;
};

/// Descriptors: record socket, stdin, stdout, stderr, and the body's memfd if the packet is `detached`.
struct StartCommand {
    std::uint64_t id = 0;
    /// What to try in turn: one path for a name with a slash, else the name in each directory of PATH.
    std::vector<std::string> programs;
    std::vector<std::string> argv;  ///< argv[0] included
    std::vector<std::string> env;
    std::string cwd;             ///< empty: as it is ("/", or the session's workspace)
    bool end_survivors = false;  ///< plain commands: kill what is left of the tree when the leader ends
};

/// Descriptors: the cell socket, and the body's memfd if `detached`.
struct MakeCell {
    SessionPlan plan;
};

/// The host gave up waiting for this command: end its init whatever it does.
struct DiscardCommand {
    std::uint64_t id = 0;
};

/// Descriptors: the listening sockets of the plan's `proxy_ports`.
struct CellReady {
    EnforcementFacts facts;
};

struct Started {
    std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC when the child was made
    std::int32_t pid = 0;           ///< as the launcher or init sees it
};

/// A denial as the supervisor saw it. The call stays blocked until Acknowledge{id} comes or the command ends.
struct Denied {
    std::uint64_t id = 0;  ///< 0: the call is over, and nobody waits for an answer
    std::uint8_t kind = 0;  ///< DenialKind
    std::string operation;
    std::string path;
    std::string resolved;
    std::string second_path;
    std::string second_resolved;
    std::string host;  ///< of a connection, in numbers
    std::uint16_t port = 0;
    std::int32_t error = 0;
    std::string rule;
    std::int32_t pid = 0;
    std::string program;
    bool probe = false;
    std::uint64_t folded = 0;
};

struct Ended {
    std::int64_t monotonic_ns = 0;
    std::int32_t wait_status = 0;  ///< as wait(2) gives it
    std::uint32_t survivors_ended = 0;
    std::int64_t user_us = 0;
    std::int64_t system_us = 0;
    std::uint64_t max_rss_bytes = 0;
    bool abandoned = false;  ///< SIGKILL has not ended all of the tree
};

/// To the whole tree. SIGKILL is final: what left the process group is hunted by the command's mark.
struct Signal {
    std::int32_t signal = 0;
};

struct Acknowledge {
    std::uint64_t id = 0;
};

/// Which process of the command holds the TCP socket with these two ends? Answered by a SocketHolder.
struct FindSocketHolder {
    std::uint64_t id = 0;
    std::uint32_t address = 0;  ///< its own IPv4 address, in network order
    std::uint16_t port = 0;     ///< its own port
    std::uint16_t peer_port = 0;
};

struct SocketHolder {
    std::uint64_t id = 0;  ///< of the question
    std::int32_t pid = 0;  ///< as the init sees it; 0: none of this command's
    std::string program;
};

[[nodiscard]] std::string encode(const StartCommand& message);
[[nodiscard]] std::string encode(const MakeCell& message);
[[nodiscard]] std::string encode(const DiscardCommand& message);
[[nodiscard]] std::string encode(const CellReady& message);
[[nodiscard]] std::string encode(const Failure& message);
[[nodiscard]] std::string encode(const Started& message);
[[nodiscard]] std::string encode(const Denied& message);
[[nodiscard]] std::string encode(const Ended& message);
[[nodiscard]] std::string encode(const Signal& message);
[[nodiscard]] std::string encode(const Acknowledge& message);
[[nodiscard]] std::string encode(const FindSocketHolder& message);
[[nodiscard]] std::string encode(const SocketHolder& message);
/// The init's word to its cell that it can take the next command.
[[nodiscard]] std::string encode_idle();

/// The type of a packet; a value outside the enum for anything else.
[[nodiscard]] MessageType type_of(std::string_view packet) noexcept;

/// Each returns false for a packet of another type or one that does not fit to the byte.
[[nodiscard]] bool decode(std::string_view packet, StartCommand& message);
[[nodiscard]] bool decode(std::string_view packet, MakeCell& message);
[[nodiscard]] bool decode(std::string_view packet, DiscardCommand& message);
[[nodiscard]] bool decode(std::string_view packet, CellReady& message);
[[nodiscard]] bool decode(std::string_view packet, Failure& message);
[[nodiscard]] bool decode(std::string_view packet, Started& message);
[[nodiscard]] bool decode(std::string_view packet, Denied& message);
[[nodiscard]] bool decode(std::string_view packet, Ended& message);
[[nodiscard]] bool decode(std::string_view packet, Signal& message);
[[nodiscard]] bool decode(std::string_view packet, Acknowledge& message);
[[nodiscard]] bool decode(std::string_view packet, FindSocketHolder& message);
[[nodiscard]] bool decode(std::string_view packet, SocketHolder& message);

}  // namespace sandpipe::wire
