#pragma once

#include <sandpipe/invocation.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sandpipe {

/// One line of a POSIX shell (and of bash, zsh and ksh) that means exactly these words: for wrappers that have to go
/// through a line. "" for an empty list. Pure. Throws `Error` E_INVALID_SANDBOX_CONFIG, naming the index, for a word
/// with a NUL byte, which no argument can have.
[[nodiscard]] std::string posix_quote(const std::vector<std::string>& argv);

/// `line` by `bin_shell` -c. Throws `Error` E_INVALID_SANDBOX_CONFIG: for a shell that is not an absolute path to sh,
/// bash, dash, zsh or ksh, and for a NUL byte in the line, naming its index.
[[nodiscard]] BinaryInvocation shell_invocation(std::string bin_shell, std::string line);

/// Throws as `shell_invocation` does for such a shell. Looks at the name only: whether it exists shows at the start.
void check_bin_shell(std::string_view bin_shell);

}  // namespace sandpipe
