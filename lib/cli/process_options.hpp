#pragma once

#include <sandpipe/invocation.hpp>

#include "options.hpp"

namespace sandpipe::cli {

/// Everything but the environment. Throws `Error` if our stdin is wanted and closed.
void apply(const ProcessOptions& options, BinaryInvocation& invocation);

/// `base` with the --env entries; a NAME that we do not have stays unset.
[[nodiscard]] Environment environment(Environment base, const std::vector<std::string>& entries);

}  // namespace sandpipe::cli
