#pragma once

#include <sandpipe/denial.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace sandpipe::detail {

/// Lets the first 1000 denials pass and counts further ones, so that a command that is refused without end does not
/// fill its host's memory. Pure.
class DenialFold {
  public:
    static constexpr std::uint64_t kMostTold = 1000;

    /// The denial, where it is to be told.
    [[nodiscard]] std::optional<Denial> admit(Denial denial) {
        if (told_ < kMostTold) {
            ++told_;
            return denial;
        }
        if (last_) denial.folded = last_->folded + 1;
        last_ = std::move(denial);
        return {};
    }
    /// The last one that was not told, which stands for all the others of its kind.
    [[nodiscard]] std::optional<Denial> rest() { return std::exchange(last_, std::nullopt); }

  private:
    std::uint64_t told_ = 0;
    std::optional<Denial> last_;
};

}  // namespace sandpipe::detail
