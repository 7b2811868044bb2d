#pragma once

#include "host.hpp"
#include "options.hpp"

namespace sandpipe::cli {

/// `sandpipe run`: in a session of its own. Throws `Error` for a wrong policy or a machine that cannot
/// enforce it.
awaitable<Ending> run_command(Host& host, RunOptions options);

/// `sandpipe exec`: without a sandbox.
awaitable<Ending> exec_command(Host& host, ExecOptions options);

/// `sandpipe explain`: prints what a sandbox would say; 0 when everything is allowed, else 1. Throws `Error`
/// for a wrong policy, before anything is printed.
Ending explain_command(const ExplainOptions& options);

}  // namespace sandpipe::cli
