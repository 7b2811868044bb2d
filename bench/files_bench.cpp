// What work on files costs in a sandbox, beside the same work as a plain command. Both take turns in one run;
// the figures to read are the ratios.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host.hpp"
#include "rounds.hpp"

namespace sandpipe::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kSources = 40;

/// A directory beside the programs, on whatever file system the build is.
class WorkDirectory {
  public:
    WorkDirectory() : path_(fs::path(SANDPIPE_BENCH_TRUE).parent_path() / "bench-work") {
        fs::remove_all(path_);
        fs::create_directories(path_);
    }
    WorkDirectory(const WorkDirectory&) = delete;
    WorkDirectory& operator=(const WorkDirectory&) = delete;
    ~WorkDirectory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string path() const { return path_.string(); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name) << text;
    }

  private:
    fs::path path_;
};

SandboxPolicy writable(const WorkDirectory& work) {
    SandboxPolicy policy;
    policy.filesystem.allow_write.emplace_back(work.path());
    return policy;
}

/// One piece of work in its forms, which take turns. Ratios are those of a round, so what slows all of it down counts
/// less.
class Comparison {
  public:
    explicit Comparison(const SandboxPolicy& policy) : sandbox_(host().open(policy)) {}
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;
    ~Comparison() { host().drive(host().close(sandbox_)); }

    void run(
        benchmark::State& state, const BinaryInvocation& invocation, const std::function<void()>& prepare = [] {}) {
        const auto all = [&] {
            plain_.time_prepared(prepare, [&] { host().drive(host().run(invocation)); });
            ours_.time_prepared(prepare, [&] { host().drive(host().run_in(sandbox_, invocation)); });
            if (floor_) least_.time_prepared(prepare, [&] { host().drive(host().run(*floor_)); });
        };
        all();
        plain_ = ours_ = least_ = Rounds();  // that was to warm up
        for (auto _ : state) {
            all();
            state.SetIterationTime(ours_.last());
        }
        state.counters["plain_ms"] = plain_.median() * 1e3;
        state.counters["to_plain"] = ours_.median_ratio_to(plain_);
        state.counters["to_plain_quiet"] = ours_.quiet() / plain_.quiet();
        if (!floor_) return;
        state.counters["floor_to_plain"] = least_.median_ratio_to(plain_);
        state.counters["floor_to_plain_quiet"] = least_.quiet() / plain_.quiet();
    }
    /// The same work where only what every sandbox of this design needs is done.
    void add_floor(BinaryInvocation invocation) { floor_ = std::move(invocation); }

  private:
    std::shared_ptr<SandboxEnforcer> sandbox_;
    std::optional<BinaryInvocation> floor_;
    Rounds plain_, ours_, least_;
};

/// 5,000 small files made and removed.
void create_heavy(benchmark::State& state) {
    const WorkDirectory work;
    Comparison(writable(work)).run(state, command(SANDPIPE_BENCH_MAKE_FILES).args("5000", work.path()));
}

/// 50,000 opens for reading, where the policy denies no reads, and where it denies one somewhere.
void open_heavy(benchmark::State& state) {
    const WorkDirectory work;
    work.write("read", "some text\n");
    SandboxPolicy policy = writable(work);
    if (state.range(0) == 1) policy.filesystem.deny_read.emplace_back("/etc/shadow");
    const std::string file = work.path() + "/read";
    Comparison comparison(policy);
    if (state.range(0) == 0)
        comparison.add_floor(command(SANDPIPE_BENCH_MINIMAL_SANDBOX).args(SANDPIPE_BENCH_OPEN_FILES, "50000", file));
    comparison.run(state, command(SANDPIPE_BENCH_OPEN_FILES).args("50000", file));
}

std::string source(int number) {
    const std::string n = std::to_string(number);
    std::string text =
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"common.h\"\n";
    for (int i = 0; i < 20; ++i) {
        const std::string name = "work_" + n + "_" + std::to_string(i);
        text +=
            "int " + name +
            "(int x) {\n    char text[64];\n    int sum = 0;\n    for (int i = 0; i < x; ++i) sum += i * " +
            n + " + " + std::to_string(i) +
            ";\n    snprintf(text, sizeof text, \"%d\", sum);\n    return (int)strlen(text);\n}\n";
    }
    return text;
}

void write_project(const WorkDirectory& work) {
    std::string objects;
    std::string header = "#pragma once\n";
    std::string calls;
    for (int i = 0; i < kSources; ++i) {
        const std::string n = std::to_string(i);
        work.write("part" + n + ".c", source(i));
        objects += " part" + n + ".o";
        header += "int work_" + n + "_0(int x);\n";
        calls += "    sum += work_" + n + "_0(argc);\n";
    }
    work.write("common.h", header);
    work.write("main.c",
               "#include \"common.h\"\nint main(int argc, char** argv) {\n    int sum = (argv == 0);\n" +
                   calls + "    return sum < 0;\n}\n");
    work.write("Makefile", "CFLAGS = -O1 -Wall\nprogram: main.o" + objects +
                               "\n\t$(CC) -o $@ $^\n%.o: %.c common.h\n\t$(CC) $(CFLAGS) -c -o $@ "
                               "$<\nclean:\n\trm -f *.o program\n");
}

/// make of a C project of 41 files, from nothing.
void real_build(benchmark::State& state) {
    const WorkDirectory work;
    write_project(work);
    const BinaryInvocation make = command("make").args("-s", "-j2").cwd(work.path());
    const BinaryInvocation clean = command("make").args("-s", "clean").cwd(work.path());
    Comparison(writable(work)).run(state, make, [&] { host().drive(host().run(clean)); });
}

BENCHMARK(create_heavy)->Iterations(20)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(open_heavy)->Arg(0)->Arg(1)->Iterations(40)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(real_build)->Iterations(6)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sandpipe::bench
