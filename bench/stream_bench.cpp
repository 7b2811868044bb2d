// How fast output comes through, beside a loop of read(2) on a pipe.
#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "host.hpp"
#include "rounds.hpp"

namespace sandpipe::bench {
namespace {

constexpr std::uint64_t kBytes = 100'000'000;
constexpr const char* kWriter = SANDPIPE_BENCH_WRITE;

void check(std::uint64_t bytes) {
    if (bytes != kBytes) throw std::runtime_error(std::to_string(bytes) + " bytes came through");
}

/// The writer with a pipe for its stdout; returns the reading end.
unique_fd start_writer(pid_t& pid) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) throw std::system_error(errno, std::generic_category(), "pipe2");
    const unique_fd writing(ends[1]);
    unique_fd reading(ends[0]);
    char* const argv[] = {const_cast<char*>(kWriter), nullptr};
    char* const envp[] = {nullptr};
    pid = ::vfork();
    if (pid == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::execve(kWriter, argv, envp);
        ::_exit(127);
    }
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "vfork");
    return reading;
}

void raw_read() {
    static std::vector<char> buffer(64 * 1024);
    pid_t pid = -1;
    const unique_fd reading = start_writer(pid);
    std::uint64_t bytes = 0;
    for (ssize_t size; (size = ::read(reading.get(), buffer.data(), buffer.size())) > 0;)
        bytes += static_cast<std::uint64_t>(size);
    ::waitpid(pid, nullptr, 0);
    check(bytes);
}

awaitable<void> stream() {
    CommandStream stream = co_await start_command(host().runtime(), command(kWriter));
    std::uint64_t bytes = 0;
    while (const std::optional<OutputEvent> event = co_await stream.next())
        if (const auto* chunk = std::get_if<OutputChunk>(&*event)) bytes += chunk->data.size();
    check(bytes);
}

void stream_throughput(benchmark::State& state) {
    Rounds raw, streamed;
    for (auto _ : state) {
        raw.time(raw_read);
        streamed.time([] { host().drive(stream()); });
        state.SetIterationTime(streamed.last());
    }
    state.counters["raw_MB/s"] = kBytes / raw.median() / 1e6;
    state.counters["streamed_MB/s"] = kBytes / streamed.median() / 1e6;
    state.counters["of_raw"] = raw.median() / streamed.median();
}

BENCHMARK(stream_throughput)->Iterations(20)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sandpipe::bench
