// What a command costs, beside what it costs at least. All kinds take turns, so that whatever else the
// machine does falls on each of them; the figures to read are the ratios.
#include <benchmark/benchmark.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "host.hpp"
#include "raw_spawn.hpp"
#include "rounds.hpp"

namespace sandpipe::bench {
namespace {

constexpr const char* kTrue = SANDPIPE_BENCH_TRUE;
constexpr double kMicro = 1e6;

void plain() { host().drive(host().plain(kTrue)); }

template <typename Start>
void at_once(std::int64_t count, Start start) {
    std::vector<awaitable<void>> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(start());
    host().drive(std::move(all));
}

/// `count` commands at a time, settled, with both output streams captured, beside as many raw ones in a row.
template <typename Start>
void beside_raw(benchmark::State& state, Start start) {
    const std::int64_t count = state.range(0);
    Rounds raw, ours;
    at_once(count, start);
    for (auto _ : state) {
        raw.time([&] {
            for (std::int64_t i = 0; i < count; ++i) raw_spawn(kTrue);
        });
        ours.time([&] { at_once(count, start); });
        state.SetIterationTime(ours.last());
    }
    state.counters["raw_us"] = raw.median() * kMicro / static_cast<double>(count);
    state.counters["to_raw"] = ours.median() / raw.median();
    state.counters["to_raw_quiet"] = ours.quiet() / raw.quiet();
}

void spawn_plain(benchmark::State& state) {
    beside_raw(state, [] { return host().plain(kTrue); });
}

void spawn_sandboxed(benchmark::State& state) {
    beside_raw(state, [] { return host().sandboxed(kTrue); });
}

/// Memory of this process that was written to.
class Touched {
  public:
    explicit Touched(std::size_t bytes)
        : bytes_(bytes),
          memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
        // Small pages, as after a long life: with huge ones a copy of the page tables is cheap.
        ::madvise(memory_, bytes_, MADV_NOHUGEPAGE);
        std::memset(memory_, 1, bytes_);
    }
    Touched(const Touched&) = delete;
    Touched& operator=(const Touched&) = delete;
    ~Touched() { ::munmap(memory_, bytes_); }

  private:
    std::size_t bytes_;
    void* memory_;
};

/// A plain command from a small host and from a big one.
void host_size(benchmark::State& state) {
    constexpr std::size_t kSmall = std::size_t{10} << 20;
    constexpr std::size_t kBig = std::size_t{4} << 30;
    constexpr int kEach = 100;
    const auto free_pages = static_cast<std::size_t>(::sysconf(_SC_AVPHYS_PAGES));
    if (free_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) < kBig + kBig / 4) {
        state.SkipWithError("needs 5 GiB of free memory");
        return;
    }
    Rounds small, big;
    plain();
    for (auto _ : state) {
        for (auto [rounds, bytes] : {std::pair(&small, kSmall), std::pair(&big, kBig)}) {
            const Touched memory(bytes);
            for (int i = 0; i < kEach; ++i) rounds->time(plain);
        }
        state.SetIterationTime((small.median() + big.median()) * kEach);
    }
    state.counters["10MiB_us"] = small.median() * kMicro;
    state.counters["4GiB_to_10MiB"] = big.median() / small.median();
    state.counters["quiet"] = big.quiet() / small.quiet();
}

BENCHMARK(spawn_plain)->Arg(1)->Iterations(2000)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(spawn_plain)->Arg(32)->Iterations(60)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(spawn_sandboxed)->Arg(1)->Iterations(2000)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(spawn_sandboxed)->Arg(32)->Iterations(60)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(host_size)->Iterations(4)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sandpipe::bench
