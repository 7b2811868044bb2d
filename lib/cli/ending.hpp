#pragma once

#include <system_error>

namespace sandpipe::cli {

/// How we end.
struct Ending {
    int status = 0;
    bool broken_pipe = false;  ///< nobody reads our output: end by SIGPIPE, as any writer does
};

/// The end of one whose output cannot be written, for `error` of `write_fully`; says so on stderr where that
/// is no usual end. `signal`: the one that ended the waiting.
[[nodiscard]] Ending broken_output(std::error_code error, int signal);

}  // namespace sandpipe::cli
