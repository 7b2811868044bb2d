#include "launcher/supervisor/supervised_socket.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "launcher/kernel/own_descriptor.hpp"
#include "launcher/paths/resolve.hpp"
#include "launcher/paths/steady_path.hpp"
#include "launcher/paths/supervised_place.hpp"
#include "launcher/supervisor/bound_inode.hpp"
#include "launcher/supervisor/taken_back.hpp"
#include "launcher/view/file_mask.hpp"
#include "sys/kernel.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

SocketAnswer refused(int error) {
    SocketAnswer answer;
    answer.judgement = {Decision::refuse, -error, {}};
    return answer;
}

int read_address(const Caller& caller, std::uint64_t at, std::uint64_t size, SocketAddress& address) {
    const int length = static_cast<int>(size);
    if (length < 0 || static_cast<std::size_t>(length) > sizeof address.bytes) return -EINVAL;
    address.size = static_cast<socklen_t>(length);
    return caller.read(at, &address.bytes, address.size);
}

/// The beginning of struct msghdr and mmsghdr.
struct MessageName {
    std::uint64_t address;
    std::int32_t size;
    std::int32_t padding;
};

/// Of several messages that of the first: the call fails only where that one does.
int read_destination(const NotifiedCall& row, const seccomp_data& call, const Caller& caller, SocketAddress& address) {
    if (row.act == Act::send) return read_address(caller, call.args[4], call.args[5], address);
    if (call.nr == SYS_sendmmsg && static_cast<unsigned>(call.args[2]) == 0) return 0;
    MessageName name{};
    if (const int error = caller.read(call.args[1], &name, sizeof name); error < 0) return error;
    if (name.address == 0) return 0;
    // As the kernel does: what is longer is cut.
    const std::int32_t size = std::min(name.size, static_cast<std::int32_t>(sizeof address.bytes));
    return read_address(caller, name.address, static_cast<std::uint32_t>(size), address);
}

/// Of the thread, where the kernel can tell threads apart (since 6.9); else of its process, whose descriptors they
/// are unless it went out of its way.
int take_socket(const Caller& caller, int number, unique_fd& socket) {
    long pidfd = sys::raw_syscall(SYS_pidfd_open, caller.thread(), sys::kPidfdThread);
    if (pidfd < 0) pidfd = sys::raw_syscall(SYS_pidfd_open, caller.process(), 0);
    if (pidfd < 0) return static_cast<int>(pidfd);
    const unique_fd process(static_cast<int>(pidfd));
    const long taken = sys::raw_syscall(SYS_pidfd_getfd, process.get(), number, 0);
    if (taken < 0) return static_cast<int>(taken);
    socket.reset(static_cast<int>(taken));
    return 0;
}

int family_of(const unique_fd& socket, int& family) {
    socklen_t size = sizeof family;
    return ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 ? -errno : 0;
}

std::uint64_t network_of(int socket) {
    std::uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    return ::getsockopt(socket, SOL_SOCKET, sys::kSoNetnsCookie, &cookie, &size) < 0 ? 0 : cookie;
}

std::uint64_t own_network() {
    static const std::uint64_t cookie = [] {
        const unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        return socket ? network_of(socket.get()) : 0;
    }();
    return cookie;
}

bool same_place(int one, int other) {
    struct statx first {}, second {};
    constexpr unsigned kIdentity = STATX_INO | STATX_MNT_ID;
    return ::statx(one, "", AT_EMPTY_PATH, kIdentity, &first) == 0 &&
           ::statx(other, "", AT_EMPTY_PATH, kIdentity, &second) == 0 && first.stx_ino == second.stx_ino &&
           first.stx_mnt_id == second.stx_mnt_id;
}

constexpr std::uint16_t kNameServer = 53;

/// Loopback is the session's own, but for name servers: where /etc/resolv.conf names one of the host's there
/// (127.0.0.53), nobody can take its place inside, because the port is privileged.
bool leads_nowhere(const InetPeer& peer) { return !peer.within || peer.port == kNameServer; }

/// What to do instead, for whoever reads it: an address of a name server says nothing.
std::string reason_without_route(std::uint16_t port, bool has_proxies) {
    std::string reason = "no route leaves the session's network";
    if (port == kNameServer) reason += ", nor are names looked up in it";
    if (has_proxies) reason += "; use the proxies that HTTP_PROXY and ALL_PROXY name";
    return reason;
}

/// Another session may have given the socket this name for a moment. Where it has been taken back by now nobody talks
/// to it.
int still_at(int target, const std::string& place) {
    struct stat opened {}, named {};
    const bool same = place_of(target) == place && ::fstat(target, &opened) == 0 &&
                      ::lstat(place.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
                      opened.st_ino == named.st_ino;
    return same ? 0 : -ECONNREFUSED;
}

/// Whether this process, too, finds an entry of `directory` by `path`.
bool leads_into(int start, std::string_view path, int directory) {
    const std::string above = split_path(path).directory;
    unique_fd end;
    if (above.empty()) return same_place(start, directory);
    return open_plainly(start, above, O_DIRECTORY, 0, end) == 0 && same_place(end.get(), directory);
}

}  // namespace

SocketAnswer SocketSupervisor::answer(const NotifiedCall& row, const seccomp_notif& notification, const Caller& caller,
                                      const StillWaiting& still_waiting) {
    const auto& args = notification.data.args;
    SocketAddress address;
    if (const int error = read_address(caller, args[1], args[2], address); error < 0) return refused(error);
    if (row.act == Act::connect) return connect(notification, caller, address, still_waiting);
    return address.unix_path().empty() ? SocketAnswer{} : bind(notification, caller, address, still_waiting);
}

SocketAnswer SocketSupervisor::judge_sending(const NotifiedCall& row, const seccomp_notif& notification,
                                             const Caller& caller) const {
    SocketAddress address;
    if (const int error = read_destination(row, notification.data, caller, address); error < 0) return refused(error);
    // A stream ignores the address or refuses it, UNIX datagrams do not exist here, and what a namespace has no route
    // to stays out of reach: the kernel may look at the caller's memory once more.
    SocketAnswer answer = judge_inet(address);
    if (answer.judgement.decision == Decision::perform) answer.judgement = {};
    return answer;
}

SocketAnswer SocketSupervisor::connect(const seccomp_notif& notification, const Caller& caller,
                                       const SocketAddress& address, const StillWaiting& still_waiting) {
    Connector::Request request;
    request.cookie = notification.id;
    request.thread = caller.thread();
    request.address = address;
    int family = 0;
    int error = take_socket(caller, static_cast<int>(notification.data.args[0]), request.socket);
    if (error == 0) error = family_of(request.socket, family);
    if (error < 0) return refused(error);
    if (family == AF_UNIX) return connect_unix(caller, std::move(request), still_waiting);
    if (family == AF_INET || family == AF_INET6) return connect_inet(std::move(request), still_waiting);
    SocketAnswer answer;
    answer.judgement.decision = Decision::perform;
    return carry_out(std::move(answer), std::move(request), still_waiting);
}

SocketAnswer SocketSupervisor::connect_inet(Connector::Request request, const StillWaiting& still_waiting) {
    SocketAnswer answer = judge_inet(request.address);
    // A socket that came with stdin or stdout belongs to the host's network, where loopback is the host.
    if (plan_.own_network && !is_of_session(request.socket.get())) {
        answer.kind = DenialKind::connect;
        answer.judgement = {Decision::deny, EACCES, "the socket is of the host's network"};
    }
    return carry_out(std::move(answer), std::move(request), still_waiting);
}

SocketAnswer SocketSupervisor::judge_inet(const SocketAddress& address) const {
    SocketAnswer answer;
    answer.judgement.decision = Decision::perform;
    InetPeer peer;
    if (!parse_inet(address, peer)) return answer;  // AF_UNSPEC, or the kernel's own error
    answer.kind = DenialKind::connect;
    answer.host = std::move(peer.host);
    answer.port = peer.port;
    if (plan_.own_network && leads_nowhere(peer))
        answer.judgement = {Decision::deny, ENETUNREACH, reason_without_route(answer.port, !plan_.proxy_ports.empty())};
    return answer;
}

bool SocketSupervisor::is_of_session(int socket) const {
    const std::uint64_t cookie = network_of(socket);
    return cookie != 0 && cookie == own_network();
}

SocketAnswer SocketSupervisor::connect_unix(const Caller& caller, Connector::Request request,
                                            const StillWaiting& still_waiting) {
    SocketAnswer answer;
    answer.judgement.decision = Decision::perform;
    answer.path = std::string(request.address.unix_path());
    if (request.address.is_abstract() && !(plan_.own_network && is_of_session(request.socket.get())))
        answer.judgement = {Decision::deny, EACCES, "abstract sockets of the host are out of reach"};
    if (answer.path.empty()) return carry_out(std::move(answer), std::move(request), still_waiting);
    Spot spot;
    Resolver resolver(caller);
    const int error = resolver.find_target(AT_FDCWD, answer.path, spot);
    if (error < 0) return unreachable(std::move(answer), resolver, error);
    answer.resolved = spot.place;
    answer.judgement = judge_peer(spot);
    if (!unix_address(OwnDescriptor(spot.object.get()).path(), request.address)) return refused(-ENAMETOOLONG);
    // What is the session's own is known by its inode, what is the host's by the place of its name alone.
    const bool by_name = !registry_.contains(spot.object.get());
    if (by_name) request.check = [target = spot.object.get(), place = spot.place] { return still_at(target, place); };
    request.target = std::move(spot.object);
    return carry_out(std::move(answer), std::move(request), still_waiting);
}

/// A path that ends before its last component: a denied place may be what it ends at.
SocketAnswer SocketSupervisor::unreachable(SocketAnswer answer, Resolver& resolver, int error) const {
    answer.resolved = resolver.blocked_place(AT_FDCWD, answer.path);
    answer.judgement = judge_read(plan_.rules, answer.resolved);
    return answer.judgement.decision == Decision::deny ? std::move(answer) : refused(error);
}

Judgement SocketSupervisor::judge_peer(const Spot& spot) const {
    // What stands there for this process too is the mask.
    Judgement hidden = judge_read(plan_.rules, spot.place);
    if (hidden.decision == Decision::deny) return hidden;
    if (spot.kind == Kind::missing) return {Decision::refuse, ENOENT, {}};
    if (spot.kind != Kind::socket) return {Decision::refuse, ECONNREFUSED, {}};
    if (registry_.contains(spot.object.get())) return {Decision::perform, 0, {}};
    const auto& allowed = plan_.unix_sockets;
    if (std::find(allowed.begin(), allowed.end(), spot.place) != allowed.end()) return {Decision::perform, 0, {}};
    return {Decision::deny, EACCES, "not in allowUnixSockets, and not known to be made in the session"};
}

SocketAnswer SocketSupervisor::carry_out(SocketAnswer answer, Connector::Request request,
                                         const StillWaiting& still_waiting) {
    if (answer.judgement.decision != Decision::perform) return answer;
    if (!still_waiting()) return refused(-EINTR);
    const int error = connector_.connect(std::move(request));
    answer.later = error == Connector::kLater;
    return error < 0 ? refused(error) : answer;
}

SocketAnswer SocketSupervisor::bind(const seccomp_notif& notification, const Caller& caller,
                                    const SocketAddress& address, const StillWaiting& still_waiting) {
    unique_fd socket;
    int family = 0;
    int error = take_socket(caller, static_cast<int>(notification.data.args[0]), socket);
    if (error == 0) error = family_of(socket, family);
    if (error < 0) return refused(error);
    if (family != AF_UNIX) return refused(-EINVAL);
    SocketAnswer answer;
    Spot spot;
    answer.kind = DenialKind::write;
    answer.path = std::string(address.unix_path());
    Resolver resolver(caller);
    error = resolver.find_entry(AT_FDCWD, answer.path, spot);
    if (error < 0) return unreachable(std::move(answer), resolver, error);
    answer.resolved = spot.place;
    answer.judgement = judge_make(plan_.rules, Kind::socket, spot.site());
    // bind(2) has a name of its own for it.
    if (answer.judgement == Judgement{Decision::refuse, EEXIST, {}}) return refused(-EADDRINUSE);
    if (answer.judgement.decision != Decision::perform) return answer;
    Identity made;
    error = still_waiting() ? bind_at(socket, caller, address, spot) : -EINTR;
    if (error == 0) error = register_bound(socket, spot, made);
    if (error < 0) return refused(error);
    // Another session may have moved its directory meanwhile.
    std::string place;
    answer.judgement = judge_again(plan_.rules, spot, Kind::socket, made, place);
    if (answer.judgement.decision != Decision::perform) answer.resolved = std::move(place);
    return answer;
}

/// The address stays as it was given where that leads the supervisor to the judged directory too, for it is what
/// getsockname(2) will say; nobody in the session can change where it leads while its lock is held. A link in /proc
/// means something else to each process, and what stands in a root may be changed by other sessions while the kernel
/// walks there once more: behind these the address is the name alone.
int SocketSupervisor::bind_at(const unique_fd& socket, const Caller& caller, const SocketAddress& address,
                              const Spot& spot) {
    unique_fd start;
    SocketAddress named = address;
    int error = caller.open_start(AT_FDCWD, start);
    if (error == 0 && !(is_steady(plan_.rules, place_of(start.get()), address.unix_path(), spot.place) &&
                        leads_into(start.get(), address.unix_path(), spot.directory.get()))) {
        start = unique_fd(::fcntl(spot.directory.get(), F_DUPFD_CLOEXEC, 3));
        if (!unix_address(spot.last(), named)) error = -ENAMETOOLONG;
    }
    if (error == 0 && ::fchdir(start.get()) < 0) error = -errno;
    if (error == 0) {
        const FileMask masked(caller.file_mask());
        if (::bind(socket.get(), named.data(), named.size) < 0) error = -errno;
    }
    if (::chdir("/") < 0 && error == 0) error = -errno;
    return error;
}

/// What stands at the name by now may be any socket of the host that another session has moved there: only what the
/// kernel says to be the bound one can be connected to, and be taken away.
int SocketSupervisor::register_bound(const unique_fd& socket, const Spot& spot, Identity& made) {
    unique_fd object;
    if (open_handle(spot.directory.get(), spot.last().c_str(), O_NOFOLLOW, object) < 0) return 0;  // it is gone again
    const int same = is_bound_to(socket.get(), object.get());
    if (same != 0) made = identity_of(object.get());
    return same == 1 ? registry_.add(std::move(object)) : 0;
}

}  // namespace sandpipe::launcher
