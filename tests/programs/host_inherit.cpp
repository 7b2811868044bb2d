// Hands its own stdout and stderr to a command: as they are, or the other way round.
#include <string_view>

#include "host.hpp"

using sandpipe::Output;

int main(int argc, char** argv) {
    Host host;
    auto invocation = sandpipe::command("/bin/sh").args("-c", "echo out; echo err >&2");
    if (argc > 1 && std::string_view(argv[1]) == "swapped")
        invocation.out(Output::descriptor(2)).err(Output::descriptor(1));
    else
        invocation.out(Output::inherit()).err(Output::inherit());
    return host.exec(std::move(invocation)).exit_code;
}
