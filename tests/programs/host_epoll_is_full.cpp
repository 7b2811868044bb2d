// Its epoll takes no more descriptors: starts fail as data, and leave nothing open.
#include "full_epoll.hpp"
#include "host.hpp"

using namespace sandpipe;

static void expect_shortage(Host& host) {
    const BinaryExecResult result = host.exec(command("cat").input(Input::bytes("x")));
    const auto* failure = std::get_if<NotStarted>(&result.status);
    check(failure && failure->stage == Stage::resources && failure->error.value() == ENOSPC, "a typed shortage");
}

int main() {
    Host host;
    check(host.exec(command("true")).exit_code == 0, "the launcher runs");
    fill_epoll();
    expect_shortage(host);
    const std::ptrdiff_t before = count_descriptors();
    for (int i = 0; i < 50; ++i) expect_shortage(host);
    check(count_descriptors() == before, "no descriptor is left open");
    Host other;
    expect_shortage(other);  // whose launcher is still to be started
}
