#include "raw_spawn.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sandpipe::bench {

void raw_spawn(const char* program) {
    char* const argv[] = {const_cast<char*>(program), nullptr};
    char* const envp[] = {nullptr};
    const pid_t pid = ::vfork();
    if (pid == 0) {
        ::execve(program, argv, envp);
        ::_exit(127);
    }
    int status = 0;
    if (pid < 0 || ::waitpid(pid, &status, 0) != pid || status != 0)
        throw std::system_error(errno, std::generic_category(), program);
}

}  // namespace sandpipe::bench
