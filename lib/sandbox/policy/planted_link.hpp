#pragma once

#include <string>
#include <vector>

#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {

/// A symbolic link on the way of `path` that an earlier command may have made so that a grant leads astray: it stands
/// in one of `trees`, where commands write, and the path leads out of that tree. Empty if there is none.
[[nodiscard]] std::string planted_link(const ResolvedPath& path, const std::vector<std::string>& trees);

/// A symbolic link on the way of `path` that stands in one of `trees`, wherever it leads. Empty if there is none.
[[nodiscard]] std::string written_link(const ResolvedPath& path, const std::vector<std::string>& trees);

}  // namespace sandpipe
