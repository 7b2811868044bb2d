// Has much memory of its own, all of it touched, and prints what a small command is said to use.
#include <vector>

#include "host.hpp"

int main() {
    const std::vector<char> big(512U << 20U, 'x');
    Host host;
    const auto result = host.exec(sandpipe::command("true"));
    std::printf("%llu %d\n", static_cast<unsigned long long>(result.max_rss), big.back());
}
