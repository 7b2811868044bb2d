#include "launcher/supervisor/told_denials.hpp"

#include <cstddef>
#include <cstring>

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMostWaiting = 1024;
// Of one command. What it does beyond is refused without the host's having to hear of each.
constexpr std::uint64_t kMostTold = 1000;

}  // namespace

bool ToldDenials::tell(wire::Denied denied, const seccomp_notif& notification) {
    denied.id = next_id_++;
    denied.folded = folded_;
    if (told_ >= kMostTold || waiting_.size() >= kMostWaiting || !report_(denied)) {
        ++folded_;
        last_folded_ = std::move(denied);
        return false;
    }
    ++told_;
    folded_ = 0;
    waiting_[denied.id] = {notification, denied.error};
    return true;
}

bool ToldDenials::waits_again(const seccomp_notif& notification) {
    for (auto& [id, waiting] : waiting_) {
        const seccomp_notif& first = waiting.notification;
        if (first.pid != notification.pid || std::memcmp(&first.data, &notification.data, sizeof first.data) != 0)
            continue;
        waiting.notification = notification;
        return true;
    }
    return false;
}

std::optional<ToldDenials::Waiting> ToldDenials::take(std::uint64_t id) {
    const auto found = waiting_.extract(id);
    return found.empty() ? std::nullopt : std::optional(found.mapped());
}

void ToldDenials::tell_folded() {
    if (folded_ == 0) return;
    last_folded_.id = 0;
    last_folded_.folded = folded_ - 1;
    folded_ = 0;
    (void)report_(last_folded_);  // a host that takes no more has gone, or soon will
}

void ToldDenials::forget() {
    waiting_.clear();
    told_ = folded_ = 0;
}

}  // namespace sandpipe::launcher
