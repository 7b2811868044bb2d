// Has a thread that waits for every child there is, all the time.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "host.hpp"

using namespace sandpipe;

int main() {
    std::atomic<bool> end{false};
    std::atomic<int> stolen{0};
    std::thread thief([&] {
        while (!end)
            if (::waitpid(-1, nullptr, WNOHANG) > 0) ++stolen;
    });
    {
        Host host;
        for (int i = 0; i < 100; ++i) {
            const BinaryExecResult result = host.exec(command("/bin/sh").args("-c", "exit 3"));
            if (result.exit_code != 3) std::printf("%d: %d\n", i, result.exit_code);
        }
    }
    end = true;
    thief.join();
    std::printf("stolen %d\n", stolen.load());
}
