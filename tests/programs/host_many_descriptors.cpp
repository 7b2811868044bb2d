// May open a million files, or as many as this machine lets it, and has one open at the top: a start is as fast as
// ever, and a command has three. Prints how many.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "host.hpp"

using namespace sandpipe;

constexpr rlim_t kMany = 1'048'576;

/// How many may be allowed: raising the hard limit takes CAP_SYS_RESOURCE.
rlim_t raise_hard_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit wanted{limit.rlim_cur, std::max(limit.rlim_max, kMany)};
    ::setrlimit(RLIMIT_NOFILE, &wanted);
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return std::min(limit.rlim_max, kMany);
}

void allow(rlim_t soft) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = soft;
    check(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "the limit");
}

/// The median of some starts, after a first one.
std::chrono::nanoseconds start_time() {
    Host host;
    std::vector<std::chrono::nanoseconds> times;
    for (int i = 0; i < 22; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        check(host.exec(command("true")).exit_code == 0, "true");
        if (i > 0) times.push_back(std::chrono::steady_clock::now() - begin);
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    return times[10];
}

int main(int argc, char** argv) {
    check(argc > 1, "the name of a program that lists its descriptors is missing");
    const rlim_t most = raise_hard_limit();
    allow(1024);
    const auto few = start_time();
    allow(most);
    const int low = ::open("/dev/null", O_RDONLY);
    check(::dup2(low, static_cast<int>(most) - 1) >= 0, "a descriptor at the top");
    const auto many = start_time();
    Host host;
    const BinaryExecResult listed = host.exec(command(argv[1]));
    check(listed.out.find("descriptors 0 1 2\n") != std::string::npos, listed.out.c_str());
    std::printf("%llu\n", static_cast<unsigned long long>(most));
    check(many < 5 * few + std::chrono::milliseconds(20), "a start goes through all the numbers");
}
