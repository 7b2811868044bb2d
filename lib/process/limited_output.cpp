#include "limited_output.hpp"

#include <algorithm>
#include <limits>

namespace sandpipe::detail {
namespace {

bool keeps_tail(const std::optional<OutputLimit>& limit) {
    return limit && limit->on_overflow == OnOverflow::keep_head_and_tail;
}

std::uint64_t tail_share(const std::optional<OutputLimit>& limit) {
    return keeps_tail(limit) ? limit->bytes / 2 : 0;
}

}  // namespace

std::uint64_t LimitedOutput::head_room() const noexcept {
    if (!limit_) return std::numeric_limits<std::uint64_t>::max();
    return limit_->bytes - tail_share(limit_) - std::min(admitted_, limit_->bytes - tail_share(limit_));
}

std::string_view LimitedOutput::admit(std::string_view data) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(head_room(), data.size()));
    bytes_ += data.size();
    admitted_ += size;
    return data.substr(0, size);
}

void LimitedOutput::keep(std::string_view data) {
    const std::string_view head = admit(data);
    head_.append(head);
    if (keeps_tail(limit_)) keep_tail(data.substr(head.size()));
}

void LimitedOutput::keep_tail(std::string_view data) {
    const auto share = static_cast<std::size_t>(tail_share(limit_));
    tail_.append(data.substr(data.size() - std::min(data.size(), share)));
    tail_kept_ = std::min<std::uint64_t>(share, tail_kept_ + data.size());
    if (tail_.size() > 2 * share) tail_.erase(0, tail_.size() - share);
}

bool LimitedOutput::overflowed(std::uint64_t more) const noexcept {
    return limit_ && limit_->on_overflow == OnOverflow::stop && bytes_ + more > limit_->bytes;
}

std::string LimitedOutput::take() {
    const auto share = static_cast<std::size_t>(tail_share(limit_));
    head_.append(tail_, tail_.size() - std::min(tail_.size(), share));
    tail_.clear();
    return std::move(head_);
}

StreamFacts LimitedOutput::facts() const noexcept {
    StreamFacts facts;
    facts.bytes = bytes_;
    facts.kept = admitted_ + tail_kept_;
    facts.truncated = facts.kept < facts.bytes;
    return facts;
}

}  // namespace sandpipe::detail
