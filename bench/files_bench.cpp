// What work on files costs in a sandbox, beside the same work as a plain command. Both take turns in one run;
// the figures to read are the ratios.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <functional>
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

void beside_plain(
    benchmark::State& state, const BinaryInvocation& invocation, const SandboxPolicy& policy,
    const std::function<void()>& prepare = [] {}) {
    const std::shared_ptr<SandboxEnforcer> sandbox = host().open(policy);
    Rounds plain, ours;
    const auto both = [&](Rounds& of_plain, Rounds& of_ours) {
        prepare();
        of_plain.time([&] { host().drive(host().run(invocation)); });
        prepare();
        of_ours.time([&] { host().drive(host().run_in(sandbox, invocation)); });
    };
    Rounds warm_up;
    both(warm_up, warm_up);
    for (auto _ : state) {
        both(plain, ours);
        state.SetIterationTime(ours.last());
    }
    state.counters["plain_ms"] = plain.median() * 1e3;
    state.counters["to_plain"] = ours.median() / plain.median();
    state.counters["to_plain_quiet"] = ours.quiet() / plain.quiet();
    host().drive(host().close(sandbox));
}

/// 5,000 small files made and removed.
void create_heavy(benchmark::State& state) {
    const WorkDirectory work;
    beside_plain(state, command(SANDPIPE_BENCH_MAKE_FILES).args("5000", work.path()), writable(work));
}

/// 50,000 opens for reading, where the policy denies no reads, and where it denies one somewhere.
void open_heavy(benchmark::State& state) {
    const WorkDirectory work;
    work.write("read", "some text\n");
    SandboxPolicy policy = writable(work);
    if (state.range(0) == 1) policy.filesystem.deny_read.emplace_back("/etc/shadow");
    beside_plain(state, command(SANDPIPE_BENCH_OPEN_FILES).args("50000", work.path() + "/read"), policy);
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
    beside_plain(state, make, writable(work), [&] { host().drive(host().run(clean)); });
}

BENCHMARK(create_heavy)->Iterations(20)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(open_heavy)->Arg(0)->Arg(1)->Iterations(20)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(real_build)->Iterations(6)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sandpipe::bench
