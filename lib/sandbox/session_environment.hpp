#pragma once

#include <sandpipe/environment.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sandpipe {

/// What makes up the environment of a session's commands.
struct SessionEnvironment {
    std::vector<std::string> host;      ///< "NAME=VALUE": what the host lets through
    std::vector<std::string> snapshot;  ///< what an overlay's names refer to
    Environment network = Environment::empty();  ///< variables for the session's proxies
    std::vector<std::string>
        git_safe_directories;  ///< for git's safe.directory, added to the caller's own settings
};

/// The host's part, then what the sandbox needs (TMPDIR, the proxies, git's safe directories), with the call's overlay
/// over it. Pure. Throws `Error` for a name or value that no environment can hold.
[[nodiscard]] std::vector<std::string> session_environment(const SessionEnvironment& parts,
                                                           const std::optional<Environment>& overlay);

}  // namespace sandpipe
