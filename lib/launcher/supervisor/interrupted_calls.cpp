#include "launcher/supervisor/interrupted_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <utility>

namespace sandpipe::launcher {
namespace {

// Threads that end leave theirs here; beyond this many some restarted call may find its own work done.
constexpr std::size_t kMostKept = 64;

bool same_registers(const seccomp_data& one, const seccomp_data& other) {
    static_assert(sizeof(seccomp_data) == 64, "no padding, whose bytes could differ");
    return std::memcmp(&one, &other, sizeof one) == 0;
}

pid_t thread_of(const seccomp_notif& notification) { return static_cast<pid_t>(notification.pid); }

}  // namespace

InterruptedCalls::Left InterruptedCalls::look(const Spot& spot) {
    struct stat found {};
    if (::fstatat(spot.directory.get(), spot.last().c_str(), &found, AT_SYMLINK_NOFOLLOW) < 0) return {};
    return {true, found.st_dev, found.st_ino};
}

void InterruptedCalls::keep(pid_t thread, Kept kept) {
    if (kept_.size() >= kMostKept) kept_.erase(kept_.begin());
    kept_.insert_or_assign(thread, std::move(kept));
}

void InterruptedCalls::keep_done(const seccomp_notif& notification, const Call& call, Answer answer) {
    Kept kept;
    kept.data = notification.data;
    kept.path = call.path;
    kept.second_path = call.second_path;
    kept.text = call.text;
    kept.left = look(answer.made);
    kept.answer = std::move(answer);
    keep(thread_of(notification), std::move(kept));
}

void InterruptedCalls::keep_refused(pid_t thread, const seccomp_data& data, int error) {
    Kept kept;
    kept.data = data;
    kept.refused = error;
    keep(thread, std::move(kept));
}

std::optional<int> InterruptedCalls::take_refused(const seccomp_notif& notification) {
    const auto found = kept_.find(thread_of(notification));
    if (found == kept_.end()) return {};
    const bool again = same_registers(found->second.data, notification.data);
    const int refused = found->second.refused;
    if (!again || refused != 0) kept_.erase(found);
    return again && refused != 0 ? std::optional<int>(refused) : std::nullopt;
}

std::optional<Answer> InterruptedCalls::take_done(const seccomp_notif& notification, const Call& call) {
    auto node = kept_.extract(thread_of(notification));
    if (node.empty()) return {};
    Kept& kept = node.mapped();
    const bool again = same_registers(kept.data, notification.data) && kept.path == call.path &&
                       kept.second_path == call.second_path && kept.text == call.text;
    if (!again || look(kept.answer.made) != kept.left) return {};
    return std::move(kept.answer);
}

}  // namespace sandpipe::launcher
