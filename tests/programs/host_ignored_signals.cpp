// Ignores SIGCHLD, SIGPIPE and SIGINT and blocks everything: commands find all of it as usual.
#include <signal.h>

#include "host.hpp"

using namespace sandpipe;

int main(int argc, char** argv) {
    check(argc > 1, "the name of a program that reports its signals is missing");
    for (const int signal : {SIGCHLD, SIGPIPE, SIGINT, SIGTERM}) ::signal(signal, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    Host host;
    for (int i = 0; i < 50; ++i)
        check(host.exec(command("/bin/sh").args("-c", "exit 7")).exit_code == 7, "the status");
    const std::string state = host.exec(command(argv[1])).out;
    for (const char* set : {"SigBlk", "SigIgn"})
        check(state.find(std::string(set) + ":\t0000000000000000") != std::string::npos, state.c_str());
    check(host.exec(command("sleep").args("60").timeout(std::chrono::milliseconds(200))).cause ==
              Cause::timed_out,
          "SIGTERM must reach the command");
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    check(sigismember(&mask, SIGINT) == 1 && ::signal(SIGCHLD, SIG_DFL) == SIG_IGN,
          "the host's own were changed");
}
