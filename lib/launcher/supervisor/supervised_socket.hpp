#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/kernel/notified_call.hpp"
#include "launcher/paths/judge.hpp"
#include "launcher/paths/supervised_caller.hpp"
#include "launcher/supervisor/connector.hpp"
#include "launcher/supervisor/socket_registry.hpp"
#include "launcher/supervisor/supervised_act.hpp"
#include "launcher/supervisor/taken_back.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// How a call about a socket ends.
struct SocketAnswer {
    Judgement judgement;  ///< `perform`: it has been carried out
    DenialKind kind = DenialKind::socket;
    std::string path;  ///< of a UNIX socket, as asked
    std::string resolved;
    std::string host;
    std::uint16_t port = 0;
    bool later = false;  ///< `Connector::on_child` has the end
};

/// connect, bind, and sending to an address, of one command. Connecting to a named socket of the host is a way out
/// that no file right closes, and both the address and the descriptor can be exchanged after a look at them; so the
/// supervisor connects the caller's own socket (pidfd_getfd(2)) to the very inode that it judged. To the peer the
/// supervisor is the process at the other end (SO_PEERCRED).
class SocketSupervisor {
  public:
    /// `plan` must outlive this. The registry is used under the session's lock.
    SocketSupervisor(const wire::SessionPlan& plan, SocketRegistry& registry)
        : plan_(plan), registry_(registry) {}

    [[nodiscard]] SocketAnswer answer(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller,
                                      const StillWaiting& still_waiting);
    /// Of what sends to an address. Never `perform`.
    [[nodiscard]] SocketAnswer judge_sending(const NotifiedCall& row, const seccomp_notif& notification,
                                             const Caller& caller) const;
    [[nodiscard]] Connector& connector() noexcept { return connector_; }

  private:
    SocketAnswer connect(const seccomp_notif& notification, const Caller& caller, const SocketAddress& address,
                         const StillWaiting& still_waiting);
    SocketAnswer connect_unix(const Caller& caller, Connector::Request request, const StillWaiting& still_waiting);
    SocketAnswer connect_inet(Connector::Request request, const StillWaiting& still_waiting);
    SocketAnswer bind(const seccomp_notif& notification, const Caller& caller, const SocketAddress& address,
                      const StillWaiting& still_waiting);
    int bind_at(const unique_fd& socket, const Caller& caller, const SocketAddress& address, const Spot& spot);
    int register_bound(const unique_fd& socket, const Spot& spot, Identity& made);
    [[nodiscard]] SocketAnswer judge_inet(const SocketAddress& address) const;
    [[nodiscard]] SocketAnswer unreachable(SocketAnswer answer, Resolver& resolver, int error) const;
    [[nodiscard]] Judgement judge_peer(const Spot& spot) const;
    [[nodiscard]] bool is_of_session(int socket) const;
    SocketAnswer carry_out(SocketAnswer answer, Connector::Request request, const StillWaiting& still_waiting);

    const wire::SessionPlan& plan_;
    SocketRegistry& registry_;
    Connector connector_;
};

}  // namespace sandpipe::launcher
