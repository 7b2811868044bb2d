#include "runtime_core.hpp"

#include <sandpipe/error.hpp>

#include <asio/steady_timer.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "core/escaped.hpp"
#include "process/environment_snapshot.hpp"
#include "process/helper_end.hpp"
#include "process/launcher_process.hpp"
#include "process/log.hpp"
#include "process/shortage.hpp"
#include "wire/relay_messages.hpp"

namespace sandpipe::detail {
namespace {

using Lock = std::unique_lock<std::mutex>;

/// Of a process that has more rights than its caller nobody may take anything away: secure_getenv(3).
wire::FeatureLimits feature_limits() {
    const char* words = ::secure_getenv(wire::kFeatureVariable);
    wire::FeatureLimits limits;
    if (words && !wire::parse_feature_limits(words, limits))
        throw Error(Errc::invalid_sandbox_config, std::string(wire::kFeatureVariable) + " is \"" + words +
                                                      "\"; accepted: landlock, landlock>N, listener, addfd_send,"
                                                      " wait_killable, close_range, memfd_exec, with commas between");
    return limits;
}

/// Asio makes its reactor for the first object that needs one. Without a descriptor for it that throws here, and not in
/// a handler, where nobody could catch it.
void make_reactor(const asio::any_io_executor& executor) {
    try {
        const asio::steady_timer first(executor);
    } catch (const std::system_error& error) {
        throw Shortage(error.code().value(), std::string("Asio's reactor cannot be made: ") + error.what() +
                                                 " (see ulimit -n)");
    }
}

Error closed_error() { return {Errc::sandbox_not_initialized, "the Runtime is closed"}; }

}  // namespace

std::uint64_t next_command_id() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

RuntimeCore::RuntimeCore(asio::any_io_executor executor, RuntimeOptions options)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      environment_(snapshot_of_environment()),
      limits_(feature_limits()),
      owner_(::getpid()),
      launchers_(options_.launchers) {
    make_reactor(executor_);
    if (limits_ != wire::FeatureLimits{})
        log(LogLevel::warning, 0, std::string(wire::kFeatureVariable) + " takes away " + wire::to_words(limits_));
}

void RuntimeCore::log(LogLevel level, std::uint64_t command_id, const std::string& text) const {
    if (!options_.logger) return log_to_spdlog(level, command_id, text);
    try {
        const std::string line = escaped(text);
        options_.logger(LogRecord{level, command_id, line});
    } catch (...) {
        // No command may end half-way because of a line about it.
        log_to_spdlog(LogLevel::error, command_id, "RuntimeOptions::logger threw at: " + text);
    }
}

void RuntimeCore::check_owner() const {
    if (::getpid() != owner_)
        throw Error(Errc::sandbox_not_initialized,
                    "this process was forked from the Runtime's: make a Runtime of its own in the child");
}

void RuntimeCore::check_usable() const {
    check_owner();
    if (closed_) throw closed_error();
}

LauncherHandle RuntimeCore::launcher() {
    check_owner();
    LauncherHandle handle;
    bool lost = false;
    {
        const Lock lock(mutex_);
        if (cut_off_) throw closed_error();
        Launcher& slot = launchers_[next_launcher_++ % launchers_.size()];
        if (!slot.channel || !slot.channel->alive()) {
            lost = slot.channel != nullptr;
            start_launcher_in(slot);
        }
        handle = {slot.channel, slot.pid};
    }
    if (lost) log(LogLevel::warning, 0, "a launcher was lost; another was started");
    return handle;
}

void RuntimeCore::start_launcher_in(Launcher& slot) {
    std::vector<unique_fd> lost;
    if (slot.pidfd) lost.push_back(std::move(slot.pidfd));
    const EndingHelpers ending(std::move(lost));
    LauncherProcess process = start_launcher(options_.launcher_path, limits_);
    slot.channel = PacketChannel::open(executor_, process.control);
    slot.pidfd = std::move(process.pidfd);
    slot.pid = process.pid;
}

void RuntimeCore::join(std::uint64_t id, const std::shared_ptr<RuntimeMember>& member) {
    const Lock lock(mutex_);
    if (closed_) throw closed_error();
    members_[id].object = member;
}

void RuntimeCore::refuse_starts() {
    const Lock lock(mutex_);
    closed_ = true;
}

void RuntimeCore::leave(std::uint64_t id) {
    give_place(id);
    std::vector<Ending> ended;
    {
        const Lock lock(mutex_);
        if (const auto found = members_.find(id); found != members_.end()) found->second.ended = true;
        for (Ending& ending : endings_) ending.ids.erase(id);
        const auto open =
            std::partition(endings_.begin(), endings_.end(), [](const Ending& e) { return !e.ids.empty(); });
        ended.assign(std::make_move_iterator(open), std::make_move_iterator(endings_.end()));
        endings_.erase(open, endings_.end());
    }
    for (Ending& ending : ended) ending.done.succeed(true);
}

void RuntimeCore::forget(std::uint64_t id) {
    leave(id);
    const Lock lock(mutex_);
    members_.erase(id);
}

void RuntimeCore::take_place(std::uint64_t id, std::function<void()> go) {
    {
        const Lock lock(mutex_);
        if (options_.max_running != 0 && places_.size() >= options_.max_running) {
            queue_.emplace_back(id, std::move(go));
            return;
        }
        places_[id] = true;
    }
    go();
}

void RuntimeCore::give_place(std::uint64_t id) {
    std::function<void()> claim;  // given up without the lock, as it may hold a member
    std::function<void()> go;
    {
        const Lock lock(mutex_);
        const auto own =
            std::find_if(queue_.begin(), queue_.end(), [id](const auto& entry) { return entry.first == id; });
        if (own != queue_.end()) {
            claim = std::move(own->second);
            queue_.erase(own);
        }
        if (places_.erase(id) == 0 || queue_.empty()) return;
        places_[queue_.front().first] = true;
        go = std::move(queue_.front().second);
        queue_.pop_front();
    }
    go();
}

RuntimeCore::Members RuntimeCore::members(bool ended_too) {
    const Lock lock(mutex_);
    return members_with_lock(ended_too);
}

RuntimeCore::Members RuntimeCore::members_with_lock(bool ended_too) const {
    Members alive;
    for (const auto& [id, entry] : members_) {
        // Not even held: it may have been the last hold, and its destructor takes the lock.
        if (entry.ended && !ended_too) continue;
        if (auto member = entry.object.lock()) alive.emplace(id, std::move(member));
    }
    return alive;
}

std::optional<NotStarted> RuntimeCore::redeem(InvocationFields& fields) {
    // Most commands are none, and are not made to wait for this.
    if (!fields.program.starts_with("/proc/") || fields.args.empty() || fields.args.front() != wire::kEnterWord)
        return {};
    std::vector<std::string> argv{fields.program};
    argv.insert(argv.end(), fields.args.begin(), fields.args.end());
    for (const auto& [id, member] : members(true)) {
        std::optional<Redeemed> redeemed = member->redeem(argv);
        if (!redeemed) continue;
        if (auto* refused = std::get_if<NotStarted>(&*redeemed)) return std::move(*refused);
        enter_by_ticket(fields, std::move(std::get<InvocationFields>(*redeemed)));
        return {};
    }
    return {};
}

void RuntimeCore::end_members(const std::function<bool(const RuntimeMember&)>& which, Completion<bool> done) {
    Members alive;  // given up without the lock: the last one to hold a member destroys it, which takes the lock
    std::vector<std::shared_ptr<RuntimeMember>> chosen;
    {
        // Chosen and waited for in one step: who leaves in between would be waited for in vain.
        const Lock lock(mutex_);
        alive = members_with_lock(false);
        Ending ending;
        for (const auto& [id, member] : alive) {
            if (!which(*member)) continue;
            ending.ids.insert(id);
            chosen.push_back(member);
        }
        if (!chosen.empty()) {
            ending.done = std::move(done);
            endings_.push_back(std::move(ending));
        }
    }
    if (chosen.empty()) return done.succeed(true);
    for (const auto& member : chosen) member->request_end();
}

std::vector<std::weak_ptr<RuntimeMember>> RuntimeCore::commands_of(const Session& session) {
    std::vector<std::weak_ptr<RuntimeMember>> found;
    for (const auto& [id, member] : members(false))
        if (member->session() == &session) found.push_back(member);
    return found;
}

void RuntimeCore::stop_commands() {
    for (const auto& [id, member] : members(false))
        if (member->is_command()) member->request_end();
}

std::vector<unique_fd> RuntimeCore::cut_off() {
    std::vector<unique_fd> helpers;
    // In a forked child the sockets are the parent's too, and are not ours to shut down.
    if (::getpid() != owner_) return helpers;
    const Lock lock(mutex_);
    closed_ = cut_off_ = true;
    for (Launcher& slot : launchers_) {
        if (slot.channel) slot.channel->shut_down();
        if (slot.pidfd) helpers.push_back(std::move(slot.pidfd));
    }
    return helpers;
}

void RuntimeCore::release_io() noexcept {
    refuse_starts();
    for (const auto& [id, member] : members(true)) member->release_io();
    // Given up without the lock: who holds the last of a member destroys it, which takes the lock.
    std::vector<Ending> dropped;
    decltype(queue_) waiting;
    const Lock lock(mutex_);
    cut_off_ = true;
    for (auto& [id, entry] : members_) entry.ended = true;  // nothing tells of their end any more
    waiting.swap(queue_);
    dropped.swap(endings_);
    for (const Launcher& slot : launchers_)
        if (slot.channel) slot.channel->release_io();
}

}  // namespace sandpipe::detail
