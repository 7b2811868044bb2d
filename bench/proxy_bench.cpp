// What a proxy costs, beside a direct connection to the same server: one client program, started twice in each round,
// in a session with the host's network and in one with domain rules.
#include <benchmark/benchmark.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <thread>

#include "host.hpp"

namespace sandpipe::bench {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{1} << 30U;
constexpr int kRequests = 300;

/// On 127.0.0.1, in a thread of its own: sends each client as many bytes as its first line asks for, again and again.
class Source {
  public:
    Source() {
        listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* place = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_.get(), place, size) < 0 || ::listen(listener_.get(), 64) < 0 ||
            ::getsockname(listener_.get(), place, &size) < 0)
            throw std::runtime_error("no server on 127.0.0.1");
        port_ = ntohs(address.sin_port);
        std::thread([this] { accept_all(); }).detach();  // for as long as the process lives
    }
    [[nodiscard]] std::string port() const { return std::to_string(port_); }

  private:
    void accept_all() {
        for (;;) {
            const int client = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
            if (client < 0) return;
            std::thread([client] { serve(unique_fd(client)); }).detach();
        }
    }
    static void serve(unique_fd client) {
        static const std::array<char, 256 * 1024> block{};
        std::string line;
        for (char byte; ::recv(client.get(), &byte, 1, 0) == 1;) {
            if (byte != '\n') {
                line += byte;
                continue;
            }
            for (std::uint64_t left = std::stoull(line); left > 0;) {
                const ssize_t sent = ::send(client.get(), block.data(), std::min<std::uint64_t>(left, block.size()), MSG_NOSIGNAL);
                if (sent <= 0) return;
                left -= static_cast<std::uint64_t>(sent);
            }
            line.clear();
        }
    }

    unique_fd listener_;
    std::uint16_t port_ = 0;
};

Source& source() {
    static Source& made = *new Source;
    return made;
}

/// A session of its own kind, for the client program.
class Way {
  public:
    explicit Way(const std::string& name) : name_(name) { host().drive(open()); }

    /// Seconds that the client took, as it measured them itself: without the start of the program.
    double run(std::uint64_t bytes, int requests) {
        host().drive(talk({name_, source().port(), std::to_string(bytes), std::to_string(requests)}));
        return seconds_;
    }

  private:
    awaitable<void> open() {
        SrtEnforcerOptions options;
        if (name_ == "direct")
            options.policy.network.disabled = true;
        else
            options.policy.network.allowed_domains = {"127.0.0.1:" + source().port()};
        session_ = co_await srt_enforcer(host().runtime(), std::move(options));
    }
    awaitable<void> talk(std::vector<std::string> args) {
        BinaryInvocation client = command(SANDPIPE_BENCH_PROXY_CLIENT).arg_list(std::move(args));
        BinaryInvocation wrapped = co_await session_->wrap(std::move(client));
        const auto executor = local_executor(host().runtime());
        const BinaryExecResult result = co_await executor->exec(std::move(wrapped));
        if (result.failed) throw std::runtime_error(name_ + ": " + result.err);
        seconds_ = std::stod(result.out);
    }

    std::string name_;
    std::shared_ptr<SandboxEnforcer> session_;
    double seconds_ = 0;
};

void compare(benchmark::State& state, std::uint64_t bytes, int requests) {
    Way direct("direct");
    Way proxied("proxied");
    std::vector<double> direct_times;
    std::vector<double> proxied_times;
    for (auto _ : state) {
        direct_times.push_back(direct.run(bytes, requests));
        proxied_times.push_back(proxied.run(bytes, requests));
        state.SetIterationTime(proxied_times.back());
    }
    const auto median = [](std::vector<double>& times) {
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    };
    const double one = median(direct_times);
    const double other = median(proxied_times);
    if (bytes > 1) {
        state.counters["direct_MB/s"] = static_cast<double>(bytes) / one / 1e6;
        state.counters["proxied_MB/s"] = static_cast<double>(bytes) / other / 1e6;
        state.counters["of_direct"] = one / other;
    } else {
        state.counters["direct_us"] = one / requests * 1e6;
        state.counters["proxied_us"] = other / requests * 1e6;
        state.counters["to_direct"] = other / one;
    }
}

void proxy_throughput(benchmark::State& state) { compare(state, kBytes, 1); }
void proxy_latency(benchmark::State& state) { compare(state, 1, kRequests); }

BENCHMARK(proxy_throughput)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(proxy_latency)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sandpipe::bench
