#pragma once

#include <string>

namespace sandpipe::launcher {

/// The place of a directory, also of one whose path is longer than the kernel tells (PATH_MAX): then it is put
/// together on the way up, by names that only supervisors move, who hold the session's lock. Empty if it has none, or
/// the way is too long to be gone while others wait.
[[nodiscard]] std::string place_of_directory(int directory);

}  // namespace sandpipe::launcher
