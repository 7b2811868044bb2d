#pragma once

#include <string>

namespace sandpipe {

/// Where a session's relative paths stand: `asked`, or the cwd if that is empty, absolute; its links are for compile()
/// to follow. Throws `Error` E_INVALID_SANDBOX_CONFIG for what is no directory.
[[nodiscard]] std::string find_workspace(const std::string& asked);

/// "~" of a policy: `variable`, the value of HOME, if it is absolute, else what the user database says; empty
/// if neither knows one. `variable` may be null.
[[nodiscard]] std::string find_home(const char* variable);

}  // namespace sandpipe
