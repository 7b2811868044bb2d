#include "sandbox/ticket_book.hpp"

#include <algorithm>
#include <utility>

namespace sandpipe {

std::string to_text(TicketRefusal refusal) {
    switch (refusal) {
        case TicketRefusal::used:
            return "this ticket has been used already; each admits one command: wrap the command again";
        case TicketRefusal::expired:
            return "this ticket has expired: wrap the command right before it is started";
        case TicketRefusal::unknown:
            break;
    }
    return "this ticket is none of this session's: wrap the command again";
}

void TicketBook::issue(const std::string& ticket, InvocationFields command, Time now) {
    tickets_[ticket] = {std::move(command), TicketRefusal::expired, now + lifetime_};
    ++outstanding_;
}

std::variant<TicketRefusal, InvocationFields> TicketBook::take(const std::string& ticket, Time now) {
    expire(now);
    const auto found = tickets_.find(ticket);
    if (found == tickets_.end()) return TicketRefusal::unknown;
    if (!found->second.command) return found->second.refusal;
    InvocationFields command = std::move(*found->second.command);
    invalidate(found->second, TicketRefusal::used);
    return command;
}

void TicketBook::retire(const std::string& ticket) {
    const auto found = tickets_.find(ticket);
    if (found == tickets_.end()) return;
    if (found->second.command) --outstanding_;
    tickets_.erase(found);
}

void TicketBook::expire(Time now) {
    for (auto& [name, ticket] : tickets_)
        if (ticket.command && ticket.expires <= now) invalidate(ticket, TicketRefusal::expired);
    std::erase_if(tickets_, [&](const auto& entry) { return entry.second.expires + lifetime_ <= now; });
}

std::optional<TicketBook::Time> TicketBook::next_expiry() const {
    std::optional<Time> next;
    for (const auto& [name, ticket] : tickets_)
        if (ticket.command) next = next ? std::min(*next, ticket.expires) : ticket.expires;
    return next;
}

void TicketBook::invalidate(Ticket& ticket, TicketRefusal refusal) {
    ticket.command.reset();
    ticket.refusal = refusal;
    --outstanding_;
}

}  // namespace sandpipe
