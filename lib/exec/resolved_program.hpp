#pragma once

#include <sandpipe/invocation.hpp>

#include <string>
#include <vector>

namespace sandpipe {

/// The executable file that `fields.program` leads to, links followed, when it is looked up as an executor does: by the
/// PATH of `fields.env`, else of `snapshot`. Empty if there is none. Throws `Error` for a wrong environment.
[[nodiscard]] std::string resolved_program(const InvocationFields& fields, const std::vector<std::string>& snapshot);

}  // namespace sandpipe
