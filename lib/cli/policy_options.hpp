#pragma once

#include <sandpipe/policy.hpp>

#include "options.hpp"

namespace sandpipe::cli {

/// The file's policy, or the defaults, with what the options add. Without a file and without --allow-write
/// the workspace is writable. Reads the settings file; throws `Error` naming it if it is unreadable or wrong.
[[nodiscard]] SandboxPolicy make_policy(const PolicyOptions& options);

}  // namespace sandpipe::cli
