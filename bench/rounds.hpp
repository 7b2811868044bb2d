#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace sandpipe::bench {

/// The durations of one thing over the rounds of a benchmark.
class Rounds {
  public:
    template <typename Work>
    void time(Work&& work) {
        const auto begin = std::chrono::steady_clock::now();
        std::forward<Work>(work)();
        seconds_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }

    template <typename Prepare, typename Work>
    void time_prepared(Prepare&& prepare, Work&& work) {
        std::forward<Prepare>(prepare)();
        time(std::forward<Work>(work));
    }

    [[nodiscard]] double median() const { return quantile(seconds_, 2); }
    /// The median of the ratios to those of another thing in the same rounds.
    [[nodiscard]] double median_ratio_to(const Rounds& other) const {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < seconds_.size(); ++i) ratios.push_back(seconds_[i] / other.seconds_[i]);
        return quantile(std::move(ratios), 2);
    }
    /// The first decile: what it costs while nothing else wants the machine.
    [[nodiscard]] double quiet() const { return quantile(seconds_, 10); }
    [[nodiscard]] double last() const { return seconds_.back(); }

  private:
    [[nodiscard]] static double quantile(std::vector<double> sorted, std::size_t part) {
        const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / part);
        std::nth_element(sorted.begin(), at, sorted.end());
        return *at;
    }

    std::vector<double> seconds_;
};

}  // namespace sandpipe::bench
