#pragma once

#include <sandpipe/end_status.hpp>

#include <string>

namespace sandpipe::detail {

inline constexpr int kStatusRefused = 125;        ///< the cwd, the sandbox, or anything before the program
inline constexpr int kStatusNotExecutable = 126;  ///< the program is there and the kernel will not execute it
inline constexpr int kStatusNotFound = 127;       ///< the program or its interpreter is not there

/// The exit status that stands for a command that was not started, as shells and env(1) have it.
[[nodiscard]] int exit_status_of(const NotStarted& start);

/// "program /x: No such file or directory; <hint>"
[[nodiscard]] std::string describe(const NotStarted& start);

}  // namespace sandpipe::detail
