// Forks after the library was used: an error in the child, and nothing changes for the parent.
#include <sandpipe/error.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include "host.hpp"

using namespace sandpipe;

int child(Host& host) {
    try {
        (void)host.exec(command("true"));
        return 1;
    } catch (const Error& error) {
        return error.errc() == Errc::sandbox_not_initialized ? 0 : 2;
    }
}

int main() {
    Host host;
    check(host.exec(command("true")).exit_code == 0, "before the fork");
    const int pid = ::fork();
    if (pid == 0) {
        const int status = child(host);
        host.runtime.~Runtime();  // what a child does that returns from main
        ::_exit(status);
    }
    int status = -1;
    ::waitpid(pid, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "in the child");
    const BinaryExecResult after = host.exec(command("echo").args("unaffected"));
    check(after.out == "unaffected", "after the fork");
}
