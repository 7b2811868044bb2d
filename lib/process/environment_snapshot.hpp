#pragma once

#include <string>
#include <vector>

namespace sandpipe::detail {

/// This process's environment as it is now, "NAME=VALUE" each.
[[nodiscard]] std::vector<std::string> snapshot_of_environment();

}  // namespace sandpipe::detail
