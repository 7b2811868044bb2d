#pragma once

namespace sandpipe::launcher {

/// Brings up the loopback device of the calling process's network namespace, so that commands of a session
/// can talk to each other. Returns 0 or -errno.
[[nodiscard]] int bring_up_loopback();

}  // namespace sandpipe::launcher
