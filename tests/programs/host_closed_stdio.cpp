// Has those of the descriptors 0, 1 and 2 closed that the argument names ("02"); says by its exit status how it went.
#include <asio/steady_timer.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "host.hpp"

using namespace sandpipe;

bool is_typed(const BinaryExecResult& result) {
    const auto* failure = std::get_if<NotStarted>(&result.status);
    return failure && failure->stage == Stage::output && failure->error == std::errc::bad_file_descriptor;
}

int main(int argc, char** argv) {
    const std::string_view closed = argc > 1 ? argv[1] : "012";
    Host host;
    asio::steady_timer timer(host.io);  // Asio's own descriptors are made now, not in the gap
    for (const char digit : closed) ::close(digit - '0');
    const BinaryExecResult cat =
        host.exec(command("/bin/sh").args("-c", "cat; echo err >&2").input(Input::bytes("in")));
    if (cat.out != "in" || cat.err != "err" || cat.exit_code != 0) return 1;
    const BinaryExecResult inherited = host.exec(command("true").out(Output::inherit()));
    const bool has_stdout = closed.find('1') == std::string_view::npos;
    if (has_stdout ? inherited.exit_code != 0 : !is_typed(inherited)) return 2;
    for (const char digit : closed)
        if (::fcntl(digit - '0', F_GETFD) >= 0) return 3;  // the library took one of the numbers
    return 0;
}
