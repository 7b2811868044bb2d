#pragma once

#include <string>
#include <vector>

namespace sandpipe {

/// The executable file that the first of `names` that is one leads to, links followed; relative ones stand in `cwd`.
/// Empty if there is none. Takes as long as a file system does.
[[nodiscard]] std::string resolved_program(const std::vector<std::string>& names, const std::string& cwd);

}  // namespace sandpipe
