#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "wire/messages.hpp"

namespace sandpipe::launcher {

/// The refused calls of one command of which the host is told. Each waits until the host has noted its place in the
/// output; of a flood most are only counted.
class ToldDenials {
  public:
    /// Sends a Denied to the host; false where there is none to tell.
    using Report = std::function<bool(const wire::Denied&)>;
    struct Waiting {
        seccomp_notif notification{};
        int error = 0;
    };

    explicit ToldDenials(Report report) : report_(std::move(report)) {}

    /// False: it was counted, and nobody will acknowledge it. The call can fail at once.
    [[nodiscard]] bool tell(wire::Denied denied, const seccomp_notif& notification);
    /// A call that is made anew, after a signal, while the host still thinks about its first try: it waits in its
    /// place.
    [[nodiscard]] bool waits_again(const seccomp_notif& notification);
    /// The host has noted the place of `id`: the call that waits for it, if any does.
    [[nodiscard]] std::optional<Waiting> take(std::uint64_t id);
    /// Tells of those that were only counted, at the command's end.
    void tell_folded();
    /// For the next command.
    void forget();

  private:
    Report report_;
    std::uint64_t next_id_ = 1;
    std::uint64_t told_ = 0;
    std::uint64_t folded_ = 0;  // that no report stands for yet
    wire::Denied last_folded_;
    std::unordered_map<std::uint64_t, Waiting> waiting_;
};

}  // namespace sandpipe::launcher
