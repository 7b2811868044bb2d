#pragma once

#include <string>
#include <vector>

namespace sandpipe {

/// As mkdir -p for resolved paths, following no symbolic link: a command that runs already may put one in the place
/// of a directory on the way. Throws `Error` E_SANDBOX_FAILED naming the path.
void make_directories(const std::vector<std::string>& paths);

}  // namespace sandpipe
