#include "ending.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "output.hpp"
#include "process/exit_status.hpp"

namespace sandpipe::cli {

Ending broken_output(std::error_code error, int signal) {
    if (error.value() == EPIPE) return {128 + SIGPIPE, true};
    if (error.value() == ECANCELED) return {128 + signal};
    const std::string text = "sandpipe: cannot write the output: " + error.message() + "\n";
    // If that cannot be written either, the status still says it.
    static_cast<void>(write_fully(STDERR_FILENO, text, nullptr));
    return {detail::kStatusRefused};
}

}  // namespace sandpipe::cli
