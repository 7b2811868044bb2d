// Hands its own stdout and stderr to a command: as they are, the other way round, or where one was closed.
#include <unistd.h>

#include <cstdio>
#include <string_view>
#include <variant>

#include "host.hpp"

using sandpipe::Output;

/// Where 1 was closed, and is the event loop's by now.
int run_without_stdout() {
    ::close(STDOUT_FILENO);
    Host host;
    const auto result = host.exec(sandpipe::command("true").out(Output::inherit()));
    const auto* refused = std::get_if<sandpipe::NotStarted>(&result.status);
    check(refused != nullptr, "a descriptor of the host's own was handed on");
    if (refused) std::fprintf(stderr, "%s: %s\n", refused->path.c_str(), refused->error.message().c_str());
    return 0;
}

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "closed") return run_without_stdout();
    Host host;
    auto invocation = sandpipe::command("/bin/sh").args("-c", "echo out; echo err >&2");
    if (argc > 1 && std::string_view(argv[1]) == "swapped")
        invocation.out(Output::descriptor(2)).err(Output::descriptor(1));
    else
        invocation.out(Output::inherit()).err(Output::inherit());
    return host.exec(std::move(invocation)).exit_code;
}
