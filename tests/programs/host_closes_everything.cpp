// Closes every descriptor that it finds open between two Runtimes, as daemons do, and opens files of its own in their
// places: the next helper is the library's all the same, and the host keeps its files.
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "host.hpp"

constexpr int kMany = 64;

void run_a_command(const char* when) {
    Host host;
    const auto result = host.exec(sandpipe::command("echo").args("hi"));
    check(result.out == "hi", when);
}

int main() {
    run_a_command("before");
    for (int fd = 3; fd < kMany; ++fd) ::close(fd);
    run_a_command("with the numbers free");
    for (int fd = 3; fd < kMany; ++fd) ::close(fd);
    std::array<int, kMany> files{};
    for (int& file : files) file = ::open("/bin/false", O_RDONLY | O_CLOEXEC);
    run_a_command("with the numbers taken by other programs");
    for (const int file : files) check(::fcntl(file, F_GETFD) >= 0, "a file of the host's is closed");
}
