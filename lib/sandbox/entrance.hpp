#pragma once

#include <sandpipe/invocation.hpp>

#include <sys/types.h>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "process/entry.hpp"
#include "process/packet_channel.hpp"
#include "process/runtime_core.hpp"
#include "process/session.hpp"
#include "sandbox/entrance_socket.hpp"
#include "sandbox/ticket_book.hpp"

namespace sandpipe {

/// A wrapped command must be started within this time; a ticket is no use afterwards.
inline constexpr std::chrono::seconds kTicketLifetime{60};

/// For tests: the lifetime in sessions that are made from now on.
void set_ticket_lifetime(std::chrono::nanoseconds lifetime) noexcept;

/// A session's door for relays: gives out tickets, takes in who brings one, runs the ticket's command in the session
/// with the relay's descriptors, and tells the relay how it ended. It waits (and keeps the context at work) only
/// while a ticket can be used or a relay is served. Thread-safe.
class Entrance : public std::enable_shared_from_this<Entrance> {
  public:
    /// `image`: the program that relays are.
    Entrance(std::shared_ptr<detail::RuntimeCore> runtime, std::string image);

    /// Puts a relay's argv in place of the command in `fields`, whose session is set and stays. Where no socket can be
    /// had, the relay is one that refuses with the reason: no other executor can run the command unsandboxed.
    void admit(InvocationFields& fields);
    /// For the argv of one of this session's relays: its command, with the session set and the ticket used, or why it
    /// has none. Absent for any other argv, and for a ticket that was never given out or is forgotten.
    [[nodiscard]] std::optional<detail::Redeemed> redeem(const std::vector<std::string>& argv);
    /// No ticket admits anyone any more, and relays that have shown none are dropped.
    void close() noexcept;
    /// Gives up the I/O objects. For the shutdown of their context.
    void release_io() noexcept;

  private:
    using Channel = std::shared_ptr<detail::PacketChannel>;

    [[nodiscard]] std::vector<std::string> issue(const InvocationFields& fields, detail::Entry& entry);
    [[nodiscard]] int open_socket();
    void retire(const std::string& ticket);
    // With the lock:
    void look_after();
    void wait_for_relay();
    void accept_relays();
    void take_in(unique_fd socket);
    // Without it:
    void on_enter(const Channel& relay, wire::Packet* packet);
    void serve(const Channel& relay, InvocationFields command, std::vector<unique_fd> stdio);
    void refuse(const Channel& relay, const std::string& text);
    void let_go(const Channel& relay);

    const std::shared_ptr<detail::RuntimeCore> runtime_;
    const std::string image_;
    std::mutex mutex_;
    TicketBook book_;
    std::optional<EntranceSocket> socket_;
    std::optional<asio::posix::stream_descriptor> listener_;
    std::optional<asio::steady_timer> expiry_;
    std::weak_ptr<detail::Session> session_;
    std::map<Channel, bool> relays_;  // whether its command was begun
    bool waiting_ = false;
    bool timing_ = false;
    bool closed_ = false;
};

}  // namespace sandpipe
