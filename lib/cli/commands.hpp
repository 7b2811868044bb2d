#pragma once

#include "host.hpp"
#include "options.hpp"

namespace sandpipe::cli {

/// `sandpipe run`: in a session of its own. Throws `Error` for a wrong policy or a machine that cannot
/// enforce it.
awaitable<Ending> run_command(Host& host, RunOptions options);

/// `sandpipe exec`: without a sandbox.
awaitable<Ending> exec_command(Host& host, ExecOptions options);

}  // namespace sandpipe::cli
