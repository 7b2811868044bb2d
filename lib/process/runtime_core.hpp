#pragma once

#include <sandpipe/runtime.hpp>
#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <asio/any_io_executor.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "process/completion.hpp"
#include "process/entry.hpp"
#include "process/packet_channel.hpp"
#include "process/socket_search.hpp"
#include "wire/feature_limits.hpp"

namespace sandpipe::detail {

class Session;

/// A number for a command, counting up from 1 in this process: Runtimes share it, because audit events name commands
/// before it is known which of them will run it.
[[nodiscard]] std::uint64_t next_command_id() noexcept;

/// A running helper.
struct LauncherHandle {
    std::shared_ptr<PacketChannel> control;
    pid_t pid = -1;
};

/// Something that lives by the Runtime's I/O and must let go of it when the context goes: a command or a
/// session.
class RuntimeMember {
  public:
    virtual ~RuntimeMember() = default;
    /// Whether it is a command; sessions end after their commands.
    [[nodiscard]] virtual bool is_command() const noexcept = 0;
    /// The session that a command runs in; nullptr for plain commands and for sessions themselves.
    [[nodiscard]] virtual const Session* session() const noexcept = 0;
    /// Stops by the member's own policy; it leaves the Runtime when it has ended.
    virtual void request_end() = 0;
    /// Gives up I/O objects and waiting handlers, at once and without callbacks. The context is being
    /// destroyed.
    virtual void release_io() noexcept = 0;
    /// Answers the search, sooner or later; what runs nothing has not made the connection.
    virtual void look_for_socket(std::shared_ptr<SocketSearch> search) { search->not_found(); }
    /// For the argv of an entering relay: uses up its ticket. Absent: it is none of this member's.
    [[nodiscard]] virtual std::optional<Redeemed> redeem(const std::vector<std::string>& /*argv*/) { return {}; }
};

/// What all commands and sessions of a Runtime share. Thread-safe; held by each of them.
class RuntimeCore : public std::enable_shared_from_this<RuntimeCore> {
  public:
    RuntimeCore(asio::any_io_executor executor, RuntimeOptions options);

    [[nodiscard]] const asio::any_io_executor& executor() const noexcept { return executor_; }
    /// The environment as it was when the Runtime was made.
    [[nodiscard]] const std::vector<std::string>& environment() const noexcept { return environment_; }
    [[nodiscard]] std::uint64_t next_id() noexcept { return next_command_id(); }
    void log(LogLevel level, std::uint64_t command_id, const std::string& text) const;

    /// Throws E_SANDBOX_NOT_INITIALIZED when closed, or in a child that the host forked.
    void check_usable() const;
    /// A helper, in turn; starts it where there is none or the old one is lost. Throws E_SANDBOX_NOT_INITIALIZED once
    /// they have been cut off: what joined before `close` may still start, and is awaited.
    [[nodiscard]] LauncherHandle launcher();

    /// Every command and every session, from its making to its destruction: `release_io` must reach it. Throws
    /// E_SANDBOX_NOT_INITIALIZED when closed.
    void join(std::uint64_t id, const std::shared_ptr<RuntimeMember>& member);
    /// It has ended: nobody waits for it any more, and its place is free.
    void leave(std::uint64_t id);
    /// It is being destroyed.
    void forget(std::uint64_t id);

    /// A place among `max_running`: calls `go` at once, or when one becomes free, in order.
    void take_place(std::uint64_t id, std::function<void()> go);
    /// Gives back a place that was given, or the claim to one.
    void give_place(std::uint64_t id);

    /// From now on nothing joins: who waits for all members waits for all there will ever be.
    void refuse_starts();
    /// Ends the members that `which` picks and completes when they have left.
    void end_members(const std::function<bool(const RuntimeMember&)>& which, Completion<bool> done);
    /// The commands that run, or are about to, in a session.
    [[nodiscard]] std::vector<std::weak_ptr<RuntimeMember>> commands_of(const Session& session);
    /// Where a plain command is a relay into one of this Runtime's sessions, it becomes the command that the relay
    /// would run, in the session; or says why not.
    [[nodiscard]] std::optional<NotStarted> redeem(InvocationFields& fields);
    /// Asks every command to end, and waits for none.
    void stop_commands();
    /// Cuts the helpers off, so that they end with all that is below them, and hands over their pidfds. Never blocks.
    [[nodiscard]] std::vector<unique_fd> cut_off();
    /// The context is being destroyed.
    void release_io() noexcept;

  private:
    struct Launcher {
        std::shared_ptr<PacketChannel> channel;
        unique_fd pidfd;
        pid_t pid = -1;
    };

    struct Member {
        std::weak_ptr<RuntimeMember> object;
        bool ended = false;
    };
    using Members = std::map<std::uint64_t, std::shared_ptr<RuntimeMember>>;
    struct Ending {
        std::set<std::uint64_t> ids;  // still to leave
        Completion<bool> done;
    };

    void start_launcher_in(Launcher& slot);
    void check_owner() const;
    [[nodiscard]] Members members(bool ended_too);
    [[nodiscard]] Members members_with_lock(bool ended_too) const;

    const asio::any_io_executor executor_;
    const RuntimeOptions options_;
    const std::vector<std::string> environment_;
    const wire::FeatureLimits limits_;
    const pid_t owner_;
    std::atomic<bool> closed_{false};  // changed with the lock

    std::mutex mutex_;
    bool cut_off_ = false;
    std::vector<Launcher> launchers_;
    std::size_t next_launcher_ = 0;
    std::map<std::uint64_t, Member> members_;
    std::map<std::uint64_t, bool> places_;  // who has one
    std::deque<std::pair<std::uint64_t, std::function<void()>>> queue_;
    std::vector<Ending> endings_;
};

}  // namespace sandpipe::detail
