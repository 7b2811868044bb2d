// What a session costs once, and what the number of its rules costs each command. As in spawn_bench.cpp all kinds take
// turns, and the figures to read are the ratios to the raw loop of the same run.
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "host.hpp"
#include "raw_spawn.hpp"
#include "rounds.hpp"

namespace sandpipe::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrue = SANDPIPE_BENCH_TRUE;
constexpr double kMicro = 1e6;

/// A directory with `count` files, 100 to a directory; removed in the end.
class Tree {
  public:
    explicit Tree(std::int64_t count)
        : path_(fs::path(kTrue).parent_path() / ("tree-" + std::to_string(::getpid()) + "-" + std::to_string(count))) {
        fs::create_directories(path_);
        for (std::int64_t i = 0; i < count; ++i) {
            if (i % 100 == 0) fs::create_directory(path_ / std::to_string(i / 100));
            std::ofstream(name(i)) << i;
        }
    }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;
    ~Tree() { fs::remove_all(path_); }

    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string name(std::int64_t i) const {
        return (path_ / std::to_string(i / 100) / ("file" + std::to_string(i))).string();
    }

  private:
    fs::path path_;
};

using Sandbox = std::shared_ptr<SandboxEnforcer>;

/// `rules` of denied files, half of them for reading, below a writable tree.
awaitable<void> open_session(const Tree& tree, std::int64_t rules, Sandbox& made) {
    SrtEnforcerOptions options;
    options.workspace = fs::path(kTrue).parent_path().string();  // shown even where it is in /tmp
    options.policy.filesystem.allow_write = {tree.path()};
    for (std::int64_t i = 0; i < rules; ++i)
        (i % 2 ? options.policy.filesystem.deny_write : options.policy.filesystem.deny_read).emplace_back(tree.name(i));
    made = co_await srt_enforcer(host().runtime(), std::move(options));
}

/// From nothing to the end of the first command, and the end of the session.
awaitable<void> whole_session(const Tree& tree) {
    Sandbox sandbox;
    co_await open_session(tree, 0, sandbox);
    co_await host().run_in(sandbox, command(kTrue));
    co_await sandbox->close();
}

void session_start(benchmark::State& state) {
    const Tree tree(state.range(0));
    Rounds raw, ours, commands;
    host().drive(whole_session(tree));
    for (auto _ : state) {
        raw.time([] { raw_spawn(kTrue); });
        commands.time([] { host().drive(host().sandboxed(kTrue)); });
        ours.time([&] { host().drive(whole_session(tree)); });
        state.SetIterationTime(ours.last());
    }
    state.counters["ms"] = ours.median() * 1e3;
    state.counters["to_raw"] = ours.median() / raw.median();
    state.counters["to_command"] = ours.median() / commands.median();
}

/// One command under 100 rules beside one under a single rule.
void spawn_sandboxed_rules(benchmark::State& state) {
    const Tree tree(1000);
    Sandbox one, many;
    host().drive(open_session(tree, 1, one));
    host().drive(open_session(tree, state.range(0), many));
    Rounds raw, with_one, with_many;
    for (auto _ : state) {
        raw.time([] { raw_spawn(kTrue); });
        with_one.time([&] { host().drive(host().run_in(one, command(kTrue))); });
        with_many.time([&] { host().drive(host().run_in(many, command(kTrue))); });
        state.SetIterationTime(with_many.last());
    }
    state.counters["raw_us"] = raw.median() * kMicro;
    state.counters["to_raw"] = with_many.median() / raw.median();
    state.counters["to_one_rule"] = with_many.median() / with_one.median();
    state.counters["to_one_rule_quiet"] = with_many.quiet() / with_one.quiet();
    host().drive(one->close());
    host().drive(many->close());
}

BENCHMARK(session_start)->Arg(0)->Iterations(200)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(session_start)->Arg(20'000)->Iterations(50)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(spawn_sandboxed_rules)->Arg(100)->Iterations(2000)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sandpipe::bench
