// Is interrupted by a signal every millisecond, without SA_RESTART. An argument: how many commands.
#include <signal.h>
#include <sys/time.h>

#include "host.hpp"

using namespace sandpipe;

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 200;
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    for (int round = 0; round < count / 20; ++round) {
        Host host;
        for (int i = 0; i < 20; ++i) {
            const std::string data(100'000, 'x');
            const BinaryExecResult result = host.exec(command("cat").input(Input::bytes(data)));
            check(result.out == data && result.exit_code == 0, "a command under signals");
        }
    }
}
