// What a proxy costs, beside a direct connection to the same server: one client program, started twice in each round,
// in a session with the host's network and in one with domain rules. A round trip is a few wake-ups and little else,
// and what one costs depends on whether it crosses to a core that sleeps; so latency is told for given cores too, and
// beside a relay that does nothing but wait, receive and send.
#include <benchmark/benchmark.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "host.hpp"

namespace sandpipe::bench {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{1} << 30U;
constexpr int kRequests = 300;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

/// On 127.0.0.1, with a thread for each client.
class Server {
  public:
    explicit Server(std::function<void(unique_fd)> serve) : serve_(std::move(serve)) {
        listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address = loopback(0);
        socklen_t size = sizeof address;
        auto* place = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_.get(), place, size) < 0 || ::listen(listener_.get(), 64) < 0 ||
            ::getsockname(listener_.get(), place, &size) < 0)
            throw std::runtime_error("no server on 127.0.0.1");
        port_ = ntohs(address.sin_port);
        std::thread([this] { accept_all(); }).detach();  // for as long as the process lives
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }

  private:
    void accept_all() {
        for (;;) {
            const int client = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
            if (client < 0) return;
            std::thread([this, client] { serve_(unique_fd(client)); }).detach();
        }
    }

    std::function<void(unique_fd)> serve_;
    unique_fd listener_;
    std::uint16_t port_ = 0;
};

/// Sends the client as many bytes as its first line asks for, again and again.
void send_what_is_asked_for(unique_fd client) {
    static const std::array<char, 256 * 1024> block{};
    std::string line;
    for (char byte; ::recv(client.get(), &byte, 1, 0) == 1;) {
        if (byte != '\n') {
            line += byte;
            continue;
        }
        for (std::uint64_t left = std::stoull(line); left > 0;) {
            const ssize_t sent =
                ::send(client.get(), block.data(), std::min<std::uint64_t>(left, block.size()), MSG_NOSIGNAL);
            if (sent <= 0) return;
            left -= static_cast<std::uint64_t>(sent);
        }
        line.clear();
    }
}

/// The least that stands between a client and a server: what a proxy cannot do without.
void relay_to(std::uint16_t port, unique_fd client) {
    std::array<char, 64 * 1024> buffer;
    const unique_fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) return;
    const int one = 1;
    for (const int side : {client.get(), server.get()})
        ::setsockopt(side, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    std::array<pollfd, 2> sides{pollfd{client.get(), POLLIN, 0}, pollfd{server.get(), POLLIN, 0}};
    while (::poll(sides.data(), sides.size(), -1) > 0)
        for (std::size_t i = 0; i < sides.size(); ++i) {
            if (sides[i].revents == 0) continue;
            const ssize_t got = ::recv(sides[i].fd, buffer.data(), buffer.size(), 0);
            if (got <= 0) return;
            if (::send(sides[1 - i].fd, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) return;
        }
}

/// The core of the client, and of the proxy and the server; -1: the kernel chooses.
struct Cores {
    int client = -1;
    int host = -1;
};

/// All threads of this process on one core, as long as it lives.
class Pinned {
  public:
    explicit Pinned(int core) {
        ::sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(core), &one);
        set(one);
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { set(before_); }

  private:
    static void set(const cpu_set_t& cores) {
        for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
            ::sched_setaffinity(std::stoi(thread.path().filename()), sizeof cores, &cores);
    }

    cpu_set_t before_{};
};

Server& source() {
    static Server& made = *new Server(send_what_is_asked_for);
    return made;
}

Server& relay() {
    static Server& made = *new Server([](unique_fd client) { relay_to(source().port(), std::move(client)); });
    return made;
}

/// A session of its own kind, for the client program: "direct" on the host's network, or "proxied".
class Way {
  public:
    explicit Way(const std::string& name, const Server& server = source())
        : name_(name), port_(std::to_string(server.port())) {
        host().drive(open());
    }

    /// Seconds that the client took, as it measured them itself: without the start of the program.
    double run(std::uint64_t bytes, int requests, int core) {
        host().drive(talk({name_, port_, std::to_string(bytes), std::to_string(requests), std::to_string(core)}));
        return seconds_;
    }

  private:
    awaitable<void> open() {
        SrtEnforcerOptions options;
        options.workspace = std::filesystem::path(SANDPIPE_BENCH_PROXY_CLIENT).parent_path();
        if (name_ == "direct")
            options.policy.network.disabled = true;
        else
            options.policy.network.allowed_domains = {"127.0.0.1:" + port_};
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
    std::string port_;
    std::shared_ptr<SandboxEnforcer> session_;
    double seconds_ = 0;
};

void compare(benchmark::State& state, std::uint64_t bytes, int requests, Cores cores) {
    Way direct("direct");
    Way proxied("proxied");
    Way relayed("direct", relay());
    std::optional<Pinned> pinned;
    if (cores.host >= 0) pinned.emplace(cores.host);
    std::vector<double> direct_times;
    std::vector<double> proxied_times;
    std::vector<double> relayed_times;
    for (auto _ : state) {
        direct_times.push_back(direct.run(bytes, requests, cores.client));
        relayed_times.push_back(relayed.run(bytes, requests, cores.client));
        proxied_times.push_back(proxied.run(bytes, requests, cores.client));
        state.SetIterationTime(proxied_times.back());
    }
    const auto median = [](std::vector<double>& times) {
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    };
    const double one = median(direct_times);
    const double other = median(proxied_times);
    const double least = median(relayed_times);
    if (bytes > 1) {
        state.counters["direct_MB/s"] = static_cast<double>(bytes) / one / 1e6;
        state.counters["proxied_MB/s"] = static_cast<double>(bytes) / other / 1e6;
        state.counters["of_direct"] = one / other;
        state.counters["of_relay"] = least / other;
    } else {
        state.counters["direct_us"] = one / requests * 1e6;
        state.counters["proxied_us"] = other / requests * 1e6;
        state.counters["relayed_us"] = least / requests * 1e6;
        state.counters["to_direct"] = other / one;
        state.counters["to_relay"] = other / least;
    }
}

void proxy_throughput(benchmark::State& state) { compare(state, kBytes, 1, {}); }
void proxy_latency(benchmark::State& state) { compare(state, 1, kRequests, {}); }
void proxy_latency_one_core(benchmark::State& state) { compare(state, 1, kRequests, {0, 0}); }
void proxy_latency_two_cores(benchmark::State& state) {
    if (std::thread::hardware_concurrency() < 2) return state.SkipWithError("this machine has one core");
    compare(state, 1, kRequests, {0, 1});
}

BENCHMARK(proxy_throughput)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(proxy_latency)->Iterations(15)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(proxy_latency_one_core)->Iterations(15)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(proxy_latency_two_cores)->Iterations(15)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sandpipe::bench
