// Runs a program that it may not signal, as itself and below a shell, each with a timeout; prints what it is told.
#include <chrono>
#include <string>

#include "host.hpp"

using namespace sandpipe;

void run(Host& host, BinaryInvocation invocation) {
    StopPolicy stop;
    stop.grace = std::chrono::milliseconds(200);
    stop.abandon_after = std::chrono::milliseconds(2000);
    const auto begin = std::chrono::steady_clock::now();
    const BinaryExecResult result = host.exec(invocation.timeout(std::chrono::milliseconds(300)).stop(stop));
    const auto took = std::chrono::steady_clock::now() - begin;
    check(took < std::chrono::seconds(8), "the end of the timeout is bounded");
    std::printf("%s; %s; %s; %s\n", result.out.c_str(), std::string(to_string(result.cause)).c_str(),
                result.abandoned ? "abandoned" : "ended", result.failed ? "failed" : "succeeded");
}

int main(int argc, char** argv) {
    check(argc > 1, "the name of the program is missing");
    const std::string program = argv[1];
    Host host;
    run(host, command(program));
    run(host, command("/bin/sh").args("-c", program + " & wait"));
    check(host.exec(command("true")).exit_code == 0, "and others are not held up");
}
