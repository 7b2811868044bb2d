#include "sandbox/entrance.hpp"

#include <sandpipe/error.hpp>

#include <asio/co_spawn.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "process/adopt.hpp"
#include "process/random_hex.hpp"
#include "process/shortage.hpp"
#include "process/start_request.hpp"
#include "sandbox/relayed_command.hpp"
#include "sys/descriptors.hpp"
#include "wire/packet_socket.hpp"
#include "wire/relay_messages.hpp"

namespace sandpipe {
namespace {

using Lock = std::lock_guard<std::mutex>;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kTicketBytes = 16;

std::atomic<std::chrono::nanoseconds> ticket_lifetime{kTicketLifetime};

/// Both are private to the user; /tmp is also hidden from every sandbox that is not given the host's.
std::vector<std::string> places(const std::vector<std::string>& environment) {
    std::vector<std::string> directories{"/tmp"};
    const char* runtime = detail::find_variable(environment, "XDG_RUNTIME_DIR");
    if (runtime && *runtime == '/') directories.emplace_back(runtime);
    return directories;
}

bool is_own_user(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

}  // namespace

void set_ticket_lifetime(std::chrono::nanoseconds lifetime) noexcept { ticket_lifetime = lifetime; }

Entrance::Entrance(std::shared_ptr<detail::RuntimeCore> runtime, std::string image)
    : runtime_(std::move(runtime)), image_(std::move(image)), book_(ticket_lifetime.load()) {}

void Entrance::admit(InvocationFields& fields) {
    auto entry = std::make_shared<detail::Entry>();
    entry->command.push_back(fields.program);
    entry->command.insert(entry->command.end(), fields.args.begin(), fields.args.end());
    entry->cwd = fields.cwd;
    entry->relay = issue(fields, *entry);
    fields.program = entry->relay.front();
    fields.args.assign(entry->relay.begin() + 1, entry->relay.end());
    // The relay itself needs none, and the command's may be a place that only the sandbox has.
    fields.cwd.clear();
    fields.entry = std::move(entry);
}

/// The argv of a relay for this command.
std::vector<std::string> Entrance::issue(const InvocationFields& fields, detail::Entry& entry) {
    const Lock lock(mutex_);
    if (closed_) throw Error(Errc::sandbox_not_initialized, "the sandbox session is closed");
    if (const int error = open_socket(); error < 0)
        return {image_, std::string(wire::kRefuseWord),
                std::string("no socket could be made for this command to enter its sandbox by: ") +
                    std::strerror(-error)};
    InvocationFields kept = fields;
    // A relay brings its own; and the session must not keep itself alive.
    kept.input = Input::none();
    kept.out = kept.err = Output::discard();
    session_ = std::exchange(kept.session, nullptr);
    const std::string ticket = detail::random_hex(kTicketBytes);
    book_.issue(ticket, std::move(kept), Clock::now());
    look_after();
    entry.retire = [weak = weak_from_this(), ticket] {
        if (const auto self = weak.lock()) self->retire(ticket);
    };
    return {image_, std::string(wire::kEnterWord), std::to_string(::getpid()), socket_->address(), ticket};
}

std::optional<detail::Redeemed> Entrance::redeem(const std::vector<std::string>& argv) {
    constexpr std::size_t kWords = 5;
    if (argv.size() != kWords || argv[0] != image_ || argv[1] != wire::kEnterWord ||
        argv[2] != std::to_string(::getpid()))
        return {};
    const Lock lock(mutex_);
    auto admitted = book_.take(argv.back(), Clock::now());
    look_after();
    if (const auto* refusal = std::get_if<TicketRefusal>(&admitted)) {
        if (*refusal == TicketRefusal::unknown) return {};
        return NotStarted{Stage::wrap, make_error_code(Errc::sandbox_refused), argv[0], to_text(*refusal)};
    }
    auto& command = std::get<InvocationFields>(admitted);
    command.session = session_.lock();
    if (closed_ || !command.session)
        return NotStarted{Stage::wrap, make_error_code(Errc::sandbox_not_initialized), argv[0],
                          "the sandbox session is closed"};
    return std::move(command);
}

int Entrance::open_socket() {
    if (socket_) return socket_->publish();
    socket_.emplace();
    int error = socket_->open(places(runtime_->environment()));
    if (error == 0) error = socket_->publish();
    if (error < 0) {
        socket_.reset();
        return error;
    }
    unique_fd listener = socket_->take_listener();
    listener_.emplace(runtime_->executor());
    if (const std::error_code full = detail::adopt(*listener_, listener)) {
        // Else the next one would be given a ticket that nobody listens for.
        listener_.reset();
        socket_.reset();
        return -full.value();
    }
    expiry_.emplace(runtime_->executor());
    return 0;
}

void Entrance::retire(const std::string& ticket) {
    const Lock lock(mutex_);
    book_.retire(ticket);
    look_after();
}

/// Waits for what can still come, and for nothing else.
void Entrance::look_after() {
    if (!listener_) return;
    book_.expire(Clock::now());
    if (book_.outstanding()) return wait_for_relay();
    socket_->unpublish();
    // Who is in the queue is told that it came in vain.
    accept_relays();
    if (std::exchange(waiting_, false)) listener_->cancel();
    if (std::exchange(timing_, false)) expiry_->cancel();
}

void Entrance::wait_for_relay() {
    if (!std::exchange(waiting_, true))
        listener_->async_wait(asio::posix::descriptor_base::wait_read,
                              [self = shared_from_this()](const std::error_code& error) {
                                  if (error) return;
                                  const Lock lock(self->mutex_);
                                  // Closed since it became readable.
                                  if (!self->listener_) return;
                                  self->waiting_ = false;
                                  self->accept_relays();
                                  self->look_after();
                              });
    if (std::exchange(timing_, true)) return;
    expiry_->expires_at(*book_.next_expiry());
    expiry_->async_wait([self = shared_from_this()](const std::error_code& error) {
        if (error) return;
        const Lock lock(self->mutex_);
        self->timing_ = false;
        self->look_after();
    });
}

void Entrance::accept_relays() {
    for (;;) {
        unique_fd socket(::accept4(listener_->native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (!socket) return;
        if (is_own_user(socket.get()) && sys::lift(socket) == 0) take_in(std::move(socket));
    }
}

void Entrance::take_in(unique_fd socket) {
    Channel relay;
    try {
        relay = detail::PacketChannel::open(runtime_->executor(), socket);
    } catch (const detail::Shortage& shortage) {
        // Its ticket was not looked at, and stays good.
        const std::string refusal = wire::encode(wire::EntryRefused{wire::kStatusRefused, shortage.text()});
        static_cast<void>(wire::send_packet(socket.get(), refusal));  // who has gone needs no answer
        return;
    }
    relays_.emplace(relay, false);
    relay->receive([self = shared_from_this(), relay](wire::Packet* packet) { self->on_enter(relay, packet); });
}

void Entrance::on_enter(const Channel& relay, wire::Packet* packet) {
    constexpr std::size_t kStandard = 3;
    wire::Enter message;
    if (!packet || packet->fds.size() != kStandard || !wire::decode(packet->bytes, message))
        return refuse(relay, "the relay and this session speak different protocols");
    std::variant<TicketRefusal, InvocationFields> admitted = TicketRefusal::unknown;
    std::shared_ptr<detail::Session> session;
    {
        const Lock lock(mutex_);
        admitted = book_.take(message.ticket, Clock::now());
        session = session_.lock();
        relays_[relay] = true;
        look_after();
    }
    if (const auto* refusal = std::get_if<TicketRefusal>(&admitted)) return refuse(relay, to_text(*refusal));
    auto& command = std::get<InvocationFields>(admitted);
    command.session = std::move(session);
    if (!command.session) return refuse(relay, "the sandbox session is closed");
    serve(relay, std::move(command), std::move(packet->fds));
}

void Entrance::serve(const Channel& relay, InvocationFields command, std::vector<unique_fd> stdio) {
    asio::co_spawn(runtime_->executor(), run_for_relay(runtime_, std::move(command), std::move(stdio), relay),
                   [self = shared_from_this(), relay](const std::exception_ptr& error) {
                       try {
                           if (error) std::rethrow_exception(error);
                           self->let_go(relay);
                       } catch (const std::exception& failure) {
                           self->refuse(relay, failure.what());
                       }
                   });
}

void Entrance::refuse(const Channel& relay, const std::string& text) {
    refuse_relay(*relay, text);
    let_go(relay);
}

void Entrance::let_go(const Channel& relay) {
    const Lock lock(mutex_);
    relays_.erase(relay);
}

void Entrance::close() noexcept {
    const Lock lock(mutex_);
    closed_ = true;
    for (const auto& [relay, begun] : relays_)
        if (!begun) relay->shut_down();
    listener_.reset();
    expiry_.reset();
    socket_.reset();
}

void Entrance::release_io() noexcept {
    const Lock lock(mutex_);
    closed_ = true;
    for (const auto& [relay, begun] : relays_) relay->release_io();
    relays_.clear();
    listener_.reset();
    expiry_.reset();
    socket_.reset();
}

}  // namespace sandpipe
