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

    [[nodiscard]] double median() const { return quantile(2); }
    /// The first decile: what it costs while nothing else wants the machine.
    [[nodiscard]] double quiet() const { return quantile(10); }
    [[nodiscard]] double last() const { return seconds_.back(); }

  private:
    [[nodiscard]] double quantile(std::size_t part) const {
        std::vector<double> sorted = seconds_;
        const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / part);
        std::nth_element(sorted.begin(), at, sorted.end());
        return *at;
    }

    std::vector<double> seconds_;
};

}  // namespace sandpipe::bench
