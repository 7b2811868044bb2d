#pragma once

#include <sandpipe/policy.hpp>

#include <string>
#include <vector>

#include "options.hpp"

namespace sandpipe::cli {

/// The file's policy, or the defaults, with what the options add. Without a file and without --allow-write
/// the workspace is writable. Reads the settings file; throws `Error` naming it if it is unreadable or wrong.
/// What there is to know about a foreign file is added to `warnings`, if there is one.
[[nodiscard]] SandboxPolicy make_policy(const PolicyOptions& options,
                                        std::vector<std::string>* warnings = nullptr);

}  // namespace sandpipe::cli
