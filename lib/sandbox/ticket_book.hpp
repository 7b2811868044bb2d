#pragma once

#include <sandpipe/invocation.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

namespace sandpipe {

/// Why a ticket admits nobody.
enum class TicketRefusal : std::uint8_t { unknown, used, expired };

/// A sentence for whoever presented it: what happened, and the remedy.
[[nodiscard]] std::string to_text(TicketRefusal refusal);

/// The tickets of a session that relays may enter by. Each admits one command, once, until it expires. What became of
/// it is remembered for as long again, so that a late or second comer hears the reason. Pure: time is an argument that
/// never goes back.
class TicketBook {
  public:
    using Time = std::chrono::steady_clock::time_point;

    explicit TicketBook(std::chrono::nanoseconds lifetime) : lifetime_(lifetime) {}

    void issue(const std::string& ticket, InvocationFields command, Time now);
    /// The command that it is for; from then on it is used.
    [[nodiscard]] std::variant<TicketRefusal, InvocationFields> take(const std::string& ticket, Time now);
    /// Forgets it: its command runs without a relay.
    void retire(const std::string& ticket);
    /// Drops the commands of what has expired, and what is remembered for long enough.
    void expire(Time now);
    /// Whether any ticket can still be used.
    [[nodiscard]] bool outstanding() const noexcept { return outstanding_ > 0; }
    /// When the next of those expires.
    [[nodiscard]] std::optional<Time> next_expiry() const;

  private:
    struct Ticket {
        std::optional<InvocationFields> command;  // while it can be used
        TicketRefusal refusal = TicketRefusal::expired;
        Time expires;
    };

    void invalidate(Ticket& ticket, TicketRefusal refusal);

    const std::chrono::nanoseconds lifetime_;
    std::map<std::string, Ticket> tickets_;
    std::size_t outstanding_ = 0;
};

}  // namespace sandpipe
