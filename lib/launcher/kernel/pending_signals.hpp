#pragma once

#include <sys/types.h>

namespace sandpipe::launcher {

/// Whether a signal waits for this thread that it has not blocked. One that was sent to the process counts for its main
/// thread only: the kernel gives it to another one only where that has it blocked (signal(7)).
[[nodiscard]] bool has_pending_signal(pid_t thread);

}  // namespace sandpipe::launcher
