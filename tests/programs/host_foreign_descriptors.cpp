// Has descriptors without CLOEXEC, low and high ones: no command and no helper may get them.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host.hpp"

int main(int argc, char** argv) {
    check(argc > 1, "the name of a program that lists its descriptors is missing");
    const rlimit many{100'000, 100'000};
    ::setrlimit(RLIMIT_NOFILE, &many);
    const int low = ::open("/etc/passwd", O_RDONLY);
    ::dup2(low, 500);
    ::dup2(low, 4000);
    Host host;
    const auto first = host.exec(sandpipe::command(argv[1]));
    ::dup2(low, 700);
    const auto second = host.exec(sandpipe::command(argv[1]));
    for (const auto& result : {first, second})
        check(result.out.find("descriptors 0 1 2\n") != std::string::npos, result.out.c_str());
}
