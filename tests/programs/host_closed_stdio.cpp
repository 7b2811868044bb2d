// Has none of the descriptors 0, 1 and 2 open; says by its exit status how it went.
#include <asio/steady_timer.hpp>

#include <fcntl.h>
#include <unistd.h>

#include "host.hpp"

using namespace sandpipe;

int main() {
    Host host;
    asio::steady_timer timer(host.io);  // Asio's own descriptors are made now, not in the gap
    for (const int fd : {0, 1, 2}) ::close(fd);
    const BinaryExecResult cat =
        host.exec(command("/bin/sh").args("-c", "cat; echo err >&2").input(Input::bytes("in")));
    const BinaryExecResult refused = host.exec(command("true").out(Output::inherit()));
    const bool good = cat.out == "in" && cat.err == "err" && cat.exit_code == 0;
    const bool typed = std::holds_alternative<NotStarted>(refused.status) &&
                       std::get<NotStarted>(refused.status).stage == Stage::output;
    for (int fd = 0; fd < 3; ++fd)
        if (::fcntl(fd, F_GETFD) >= 0) return 3;  // the library took one of the numbers
    return good ? (typed ? 0 : 2) : 1;
}
